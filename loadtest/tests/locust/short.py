"""The short tests of distributed runs: a real Locust master on 127.0.0.1 with two or three workers. `.ci/locust` runs them."""

import pathlib
import shutil
import socket
import struct
import unittest
import urllib.request

from kit import LOADTEST, LOCUST, PATIENCE, LocustTest, added, counters, interrupt, requests

GREETING = b"\xff" + b"\0" * 8 + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" * 32
READY = b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06ROUTER"


class HeadlessRuns(LocustTest):
    def test_the_merged_report_is_the_sum_of_the_workers(self):
        url = self.target()
        # Long enough for several reports of each worker.
        master = self.headless(2, "-u", 5, "-r", 5, "-t", "8s")
        workers = self.workers(2, master.port, url)
        self.assertEqual(master.wait(), 0, master.output())
        for worker in workers:
            self.assertEqual(worker.wait(), 0, worker.output())
        merged = self.report()
        own = self.own(workers)
        self.assertEqual(counters(merged), added(own))
        self.assertGreater(requests(merged), 100, master.output())
        self.assertTrue(all(requests(report) > 0 for report in own), "a worker sent nothing")
        # The figures of Locust are the same, down to the failures.
        total = self.rows("stats")[-1]
        self.assertEqual(int(total["Request Count"]), requests(merged))
        names = {row["Name"] for row in self.rows("stats")[:-1]}
        self.assertEqual(names, set(merged["labels"]))
        # Five users are three and two. The report names both workers.
        users = sorted(worker["users"] for worker in merged["workers"])
        self.assertEqual(users, [2, 3])
        self.assertEqual({worker["name"] for worker in merged["workers"]}, {worker.name for worker in workers})
        self.assertTrue(all(worker["complete"] for worker in merged["workers"]))
        self.assertIn("PASSED", master.output())
        for worker in workers:
            self.assertRegex(master.output(), worker.name + r" \(index \d\): [23] users, ")

    def test_a_wrong_answer_in_25_fails_with_the_rule(self):
        url = self.target("id-wrong-now-and-then")
        master = self.headless(2, "-u", 4, "-r", 4, "-t", "4s", "sponsor-sponsored")
        self.workers(2, master.port, url)
        self.assertEqual(master.wait(), 1, master.output())
        self.assertIn("DEFECT 1  answer.id in sponsor-sponsored", master.output())
        merged = self.report()
        share = counters(merged)["sponsor-sponsored", "wrong"] / requests(merged)
        self.assertTrue(0.03 < share < 0.05, share)
        rows = self.rows("failures")
        self.assertEqual(len(rows), 1, rows)
        self.assertEqual((rows[0]["Method"], rows[0]["Name"]), ("RPC", "sponsor-sponsored"))
        self.assertTrue(rows[0]["Error"].startswith("wrong answer.id: "), rows)
        self.assertNotIn("another", rows[0]["Error"])
        self.assertEqual(int(rows[0]["Occurrences"]), counters(merged)["sponsor-sponsored", "wrong"])

    def test_an_answer_that_breaks_two_rules_is_one_failure_and_two_rows(self):
        url = self.target("id-of-previous", "jsonrpc-number")
        master = self.headless(2, "-u", 2, "-r", 2, "-t", "3s", "sponsor-sponsored")
        self.workers(2, master.port, url)
        self.assertEqual(master.wait(), 1, master.output())
        wrong = counters(self.report())["sponsor-sponsored", "wrong"]
        rows = {row["Error"].split(":")[0]: int(row["Occurrences"]) for row in self.rows("failures")}
        self.assertEqual(set(rows), {"wrong answer.id", "wrong answer.jsonrpc"})
        # Every answer has the wrong version; the first one of the target has no request before it.
        self.assertEqual(rows["wrong answer.jsonrpc"], wrong)
        self.assertTrue(wrong - 2 <= rows["wrong answer.id"] <= wrong, rows)
        self.assertEqual(int(self.rows("stats")[-1]["Failure Count"]), wrong)

    def test_random_arrivals_of_two_workers(self):
        url = self.target()
        master = self.headless(2, "-u", 2, "-r", 2, "-t", "6s", "--rate", "120", "--arrivals", "poisson", "errors")
        workers = self.workers(2, master.port, url)
        self.assertEqual(master.wait(), 0, master.output())
        merged = self.report()
        self.assertTrue(merged["model"]["poisson"])
        self.assertIn("at random (Poisson)", master.output())
        own = self.own(workers)
        self.assertEqual(counters(merged), added(own))
        for report in own:
            # As many as expected, within five standard deviations. Regular arrivals would be off by one at most.
            expected = 60 * report["arrivals"]["seconds"]
            self.assertLess(abs(report["arrivals"]["due"] - expected), 5 * expected ** 0.5, report["arrivals"])
        self.assertTrue(any(abs(report["arrivals"]["due"] - 60 * report["arrivals"]["seconds"]) > 1 for report in own), own)

    def test_the_rate_is_divided_as_the_users_and_a_threshold_decides(self):
        url = self.target()
        master = self.headless(2, "-u", 3, "-r", 3, "-t", "6s", "--rate", "90", "--threshold", "p50<1us", "quote-erc20", "errors")
        workers = self.workers(2, master.port, url)
        self.assertEqual(master.wait(), 1, master.output())
        merged = self.report()
        self.assertEqual([judged["met"] for judged in merged["thresholds"] if not judged["by_default"]], [False])
        self.assertEqual(merged["model"]["rate"], "90")
        self.assertEqual(set(merged["labels"]), {"quote-erc20", "errors"})
        own = self.own(workers)
        self.assertEqual(counters(merged), added(own))
        # Each user has 30 arrivals a second, whenever its worker began.
        self.assertEqual(sorted(report["workers"][0]["users"] for report in own), [1, 2])
        for report in own:
            expected = 30 * report["workers"][0]["users"] * report["arrivals"]["seconds"]
            self.assertLessEqual(abs(report["arrivals"]["due"] - expected), 1, report["arrivals"])


    def test_a_worker_that_is_interrupted_is_named(self):
        url = self.target()
        master = self.headless(2, "-u", 4, "-r", 4, "-t", "8s")
        workers = self.workers(2, master.port, url)
        master.expect("All users spawned|Spawning is complete")
        interrupt(workers[0])
        self.assertEqual(workers[0].wait(), 0, workers[0].output())
        self.assertEqual(master.wait(), 4, master.output())
        merged = self.report()
        self.assertRegex(merged["cut_short"], rf"^worker {workers[0].name} \(index \d\) was interrupted: ")
        self.assertRegex(master.output(), rf"{workers[0].name} \(index \d\): 2 users, .*, interrupted")
        self.assertEqual([worker.get("interrupted", False) for worker in merged["workers"]],
                         [worker["name"] == workers[0].name for worker in merged["workers"]])
        # The command is that of the run, and names no file that is gone.
        self.assertTrue(merged["command"].startswith("locust -f wrapper.py --master "), merged["command"])
        self.assertNotIn("files-from", merged["command"])

    def test_a_worker_with_another_setup_stops_the_run_and_is_left_out(self):
        url, other_url = self.target(), self.target()
        (self.folder / "other.toml").write_text("[operations]\naccepts = \"any\"\n", encoding="utf-8")
        for name, odd_url, arguments in [("target", other_url, []), ("--judge", url, ["--judge", "10%"]),
                                         ("profile", url, ["--config", "other.toml"])]:
            with self.subTest(name):
                # A ramp that takes longer than the test.
                master = self.headless(3, "-u", 3000, "-r", 3, "-t", "30m")
                usual = self.workers(2, master.port, url)
                odd = self.workers(1, master.port, odd_url, *arguments)[0]
                # 3 if not one request was answered yet.
                self.assertIn(master.wait(), (3, 4), master.output())
                self.assertIn(f"the workers have different setups, and the run is stopped: {name} is ", master.output())
                merged = self.report()
                self.assertRegex(merged["cut_short"], rf"worker {odd.name} \(index \d\) was left out: its setup is different: {name} ")
                self.assertEqual(counters(merged), added(self.own(usual)))
                self.assertEqual([len(worker.get("differences", [])) for worker in merged["workers"]], [0, 0, 1])
                # Nothing is lost.
                self.assertEqual(counters(self.own([odd])[0]), counters(self.report(f"kept/run-1/{odd.name}.json")))
                for worker in [*usual, odd]:
                    self.assertEqual(worker.wait(), 0, worker.output())

    def test_the_reports_of_the_workers_are_kept_where_the_merge_fails(self):
        url = self.target()
        # A folder in place of the file: the report cannot be written.
        master = self.master("--headless", "--expect-workers", 1, "--expect-workers-max-wait", PATIENCE, "-u", 1, "-r", 1, "-t", "2s",
                             "--report", "taken.json")
        (self.folder / "taken.json").mkdir()
        worker = self.workers(1, master.port, url)[0]
        self.assertEqual(master.wait(), 2, master.output())
        folder = pathlib.Path(master.expect("the reports of the workers are in (.*)").group(1))
        self.addCleanup(shutil.rmtree, folder)
        self.assertEqual(counters(self.report(folder / f"{worker.name}.json")), counters(self.own([worker])[0]))


class Metrics(LocustTest):
    def test_the_final_page_of_a_worker_has_the_numbers_of_its_report(self):
        url = self.target("id-wrong-now-and-then")
        master = self.headless(1, "-u", 3, "-r", 3, "-t", "3s", "--rate", "90", "errors", "quote-erc20")
        worker = self.workers(1, master.port, url, "--metrics", "0", "--metrics-wait", f"{PATIENCE}s")[0]
        page = worker.expect(r"metrics: (http://127\.0\.0\.1:\d+/metrics)").group(1)
        self.assertEqual(master.wait(), 1, master.output())
        # The worker waits until its final page was read, so the last one that can be read is that page.
        last = ""
        while True:
            try:
                with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
                    last = answer.read().decode()
            except OSError:
                break
        self.assertEqual(worker.wait(), 0, worker.output())
        samples = dict(line.rsplit(" ", 1) for line in last.splitlines() if not line.startswith("#"))
        report = self.report(worker.report.name)
        for label, of in report["labels"].items():
            for outcome, times in of["counts"].items():
                name = f'paymaster_load_requests_total{{scenario="{label}",outcome="{outcome}"}}'
                self.assertEqual(int(samples[name]), times, name)
        self.assertEqual(int(samples["paymaster_load_arrivals_due_total"]), report["arrivals"]["due"])
        self.assertGreater(requests(report), 50)
        self.assertIn('paymaster_load_wrong_answers_total{rule="answer.id"', last)


class BadInput(LocustTest):
    def test_a_threshold_that_cannot_be_read_ends_the_master_at_once(self):
        bad = self.start([LOCUST, "-f", "wrapper.py", "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", "0",
                          "--headless", "--threshold", "p95", "--expect-workers", "1"])
        self.assertEqual(bad.wait(), 2, bad.output())
        self.assertIn("METRIC<VALUE", bad.output())

    def test_damaged_frames_do_not_end_a_worker(self):
        url = self.target()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.settimeout(PATIENCE)
        worker = self.start([LOADTEST, "worker", "--master", f"127.0.0.1:{listener.getsockname()[1]}", url])
        oversized = b"\x02" + struct.pack(">Q", 2**62)
        # A spawn without its users.
        spawn = b"\x93\xa5spawn\x81\xa9timestamp\xcb\x3f\xf0\0\0\0\0\0\0\xc0"
        messages = b"\0\x03\xc1\xff\x00" + bytes([0, len(spawn)]) + spawn + b"\x01\x01a\x00\x01b" + b"\x04\x0b\x05OTHERhello"
        identities = set()
        # What the master sends, what it waits for before it closes the connection, and what the worker then reports.
        for sent, awaited, reported in [
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", None, "does not speak ZMTP 3"),
            (GREETING.replace(b"NULL\0", b"CURVE"), None, "security mechanism CURVE"),
            (GREETING + b"\0\x05hello", None, "no READY command"),
            (GREETING + READY + oversized, None, "larger than"),
            (GREETING + READY + b"\xf8\0", None, "reserved flags"),
            # A truncated frame: the connection ends within it.
            (GREETING + READY + b"\0\x7fabc", b"client_ready", "closed the connection"),
            # After these the connection goes on, and the worker still answers a PING.
            (GREETING + READY + messages + b"\x04\x0c\x05OTHER" + b"\0" * 6 + b"\x04\x0b\x04PING\0\x0acont", b"PONGcont", "cannot be read"),
        ]:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(PATIENCE)
                connection.sendall(sent)
                received = b""
                try:
                    while (data := connection.recv(65536)) and not (awaited and awaited in received + data):
                        received += data
                    received += data
                except ConnectionError:
                    pass
            if awaited:
                self.assertIn(awaited, received)
            if b"Identity" in received:
                identities.add(received.split(b"Identity")[1][4:60])
            worker.expect(reported)
            self.assertIsNone(worker.process.poll(), worker.output())
        # Each connection has a name of its own.
        self.assertEqual(len(identities), 5, identities)
        worker.process.terminate()
        self.assertEqual(worker.wait(), 0, worker.output())


if __name__ == "__main__":
    unittest.main(verbosity=2)
