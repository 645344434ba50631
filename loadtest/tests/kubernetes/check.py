"""What the manifests of docs/kubernetes must have in common, and whether their worker runs. `.ci/check-kubernetes` runs this in a virtual
environment with PyYAML; the argument is the folder of the binaries."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARIES = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "target/debug").resolve()
# A documentation address (RFC 5737): public, and no host answers there.
PUBLIC = "http://192.0.2.1/rpc"


def manifests(name):
    text = (ROOT / "docs" / "kubernetes" / name).read_text(encoding="utf-8")
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(text)}


def pod(job):
    return job["spec"]["template"]


def container(job):
    return pod(job)["spec"]["containers"][0]


class Manifests(unittest.TestCase):
    def setUp(self):
        self.master = manifests("master.yaml")
        self.workers = manifests("workers.yaml")["Job"]
        self.page = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")

    def test_the_master_expects_the_workers_that_there_are(self):
        expected = re.search(r"--expect-workers=(\d+)", " ".join(container(self.master["Job"])["args"])).group(1)
        spec = self.workers["spec"]
        self.assertEqual([str(spec["parallelism"]), str(spec["completions"])], [expected, expected])

    def test_the_workers_reach_the_master(self):
        port = container(self.master["Job"])["ports"][0]
        service = self.master["Service"]
        labels = pod(self.master["Job"])["metadata"]["labels"]
        self.assertEqual(service["spec"]["selector"], labels)
        self.assertEqual((service["spec"]["ports"][0]["port"], service["spec"]["ports"][0]["targetPort"]),
                         (port["containerPort"], port["name"]))
        arguments = container(self.workers)["args"]
        address = f"{service['metadata']['name']}:{port['containerPort']}"
        self.assertEqual(arguments[arguments.index("--master") + 1], address)
        policy = self.master["NetworkPolicy"]["spec"]
        self.assertEqual(policy["podSelector"]["matchLabels"], labels)
        allowed = policy["ingress"][0]
        self.assertEqual(allowed["from"][0]["podSelector"]["matchLabels"], pod(self.workers)["metadata"]["labels"])
        self.assertEqual(allowed["ports"][0]["port"], port["name"])

    def test_the_page_makes_the_secret_that_the_workers_read(self):
        command = re.search(r"kubectl create secret generic (\S+)((?:.*\\\n)*.*)", self.page)
        made = set(re.findall(r"--from-literal=(\w+)=", command.group(2)))
        keys = [variable["valueFrom"]["secretKeyRef"] for variable in container(self.workers)["env"]]
        self.assertEqual({key["name"] for key in keys}, {command.group(1)})
        self.assertEqual({key["key"] for key in keys}, made)

    def test_no_worker_is_started_again_for_ever(self):
        self.assertEqual(pod(self.workers)["spec"]["restartPolicy"], "Never")
        self.assertLess(self.workers["spec"]["backoffLimit"], 10)
        rule = self.workers["spec"]["podFailurePolicy"]["rules"][0]
        self.assertEqual((rule["action"], rule["onExitCodes"]["values"]), ("FailJob", [2]))
        self.assertEqual(rule["onExitCodes"]["containerName"], container(self.workers)["name"])

    def run_worker(self, arguments):
        command = [BINARIES / container(self.workers)["command"][0], *arguments, "--timeout", "100ms"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PAYMASTER_")}
        environment.update({variable["name"]: "x-api-key: 1" for variable in container(self.workers)["env"]}, PAYMASTER_URL=PUBLIC,
                           no_proxy="*")
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        return done.returncode, done.stdout

    def test_the_worker_can_load_a_public_host(self):
        arguments = container(self.workers)["args"]
        code, output = self.run_worker(arguments)
        # It tries to reach the host, and no host answers.
        self.assertEqual(code, 3, output)
        self.assertIn("192.0.2.1", output)
        code, output = self.run_worker([word for word in arguments if word != "--i-own-this-target"])
        self.assertEqual(code, 2, output)
        self.assertIn("--i-own-this-target", output)


if __name__ == "__main__":
    unittest.main()
