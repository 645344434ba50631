"""The long tests of distributed runs: web page, lost workers and masters, other workers, an older Locust. `.ci/locust long` runs them."""

import json
import shutil
import time
import unittest
import urllib.parse
import urllib.request

from kit import LOADTEST, LOCUST, OLD_LOCUST, TOO_OLD_LOCUST, Forwarder, LocustTest, added, counters, requests, until


# On a slow machine a worker still draws its requests when the master stops waiting for its users.
SPAWNED = "All users spawned|Spawning is complete"


class WebPage(LocustTest):
    def call(self, path, **form):
        data = None if path.startswith("/stats") else urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout=60) as answer:
            return json.loads(answer.read())

    def shown(self):
        return self.call("/stats/requests")

    def test_start_edit_stop_and_start_again(self):
        url = self.target()
        master = self.master("--web-host", "127.0.0.1", "--web-port", 0, "--report", "merged.json")
        self.port = int(master.expect(r"WEB-PORT (\d+)").group(1))
        workers = self.workers(3, master.port, url)
        reports = []
        for run in (1, 2):
            # More users than before, in a ramp. The host of the web page is not the target.
            for users in (3, 7):
                started = self.call("/swarm", user_count=users, spawn_rate=4, host="http://192.0.2.1/")
                self.assertTrue(started["success"], started)
                until(lambda users=users: self.shown()["state"] == "running" and self.shown()["user_count"] == users, "users")
            until(lambda: self.shown()["total_rps"] > 0, "requests")
            # Fewer, so that workers stop users.
            self.call("/swarm", user_count=2, spawn_rate=10, host="")
            until(lambda: self.shown()["user_count"] == 2, "fewer users")
            time.sleep(2)
            self.call("/stop")
            name = "merged.json" if run == 1 else "merged-2.json"
            until((self.folder / name).exists, name)
            until(lambda name=name: (self.folder / name).read_text(encoding="utf-8").endswith("}\n"), name)
            merged = self.report(name)
            own = self.own(workers, run)
            self.assertEqual(counters(merged), added(own))
            self.assertEqual(merged["verdict"], "passed", master.output())
            self.assertEqual(merged["model"]["users"], 7)
            self.assertEqual(merged["target"], own[0]["target"])
            total = [row for row in self.shown()["stats"] if row["name"] == "Aggregated"][0]
            self.assertEqual(total["num_requests"], requests(merged))
            reports.append(merged)
        self.assertGreater(reports[1]["began"], reports[0]["began"])
        master.process.terminate()
        self.assertEqual(master.wait(), 0, master.output())
        for worker in workers:
            self.assertEqual(worker.wait(), 0, worker.output())


    def test_workers_with_different_setups_stop_the_run_and_stay(self):
        url = self.target()
        master = self.master("--web-host", "127.0.0.1", "--web-port", 0, "--report", "merged.json")
        self.port = int(master.expect(r"WEB-PORT (\d+)").group(1))
        workers = [*self.workers(1, master.port, url), *self.workers(1, master.port, url, "--judge", "10%")]
        # Two users at once, and a ramp that takes minutes.
        self.call("/swarm", user_count=400, spawn_rate=2, host="")
        master.expect("the workers have different setups, and the run is stopped: --judge is ")
        until(lambda: (self.folder / "merged.json").exists() and self.shown()["state"] == "stopped", "the end of the run")
        self.addCleanup(shutil.rmtree, master.expect("the reports of the workers are in (.*)").group(1))
        for worker in workers:
            worker.expect("a run ended: ")
            self.assertIsNone(worker.process.poll(), worker.output())
        # The ramp does not go on, so that the workers have no users.
        time.sleep(3)
        self.assertEqual(self.shown()["user_count"], 0)

    def test_a_run_that_ends_before_the_first_regular_report(self):
        url = self.target()
        master = self.master("--web-host", "127.0.0.1", "--web-port", 0, "--report", "merged.json")
        self.port = int(master.expect(r"WEB-PORT (\d+)").group(1))
        workers = self.workers(2, master.port, url)
        self.call("/swarm", user_count=2, spawn_rate=2, host="")
        until(lambda: self.shown()["user_count"] == 2, "users")
        self.call("/stop")
        master.expect("PASSED|COULD NOT TEST")
        merged = self.report()
        self.assertEqual(len(merged["workers"]), 2)
        self.assertTrue(all(worker["complete"] for worker in merged["workers"]), merged["workers"])
        self.assertEqual(counters(merged), added(self.own(workers)))


class LostWorkers(LocustTest):
    def lose_one(self, *arguments):
        url = self.target()
        master = self.headless(3, "-u", 6, "-r", 6, "-t", "22s", "--rate", "60", "quote-erc20", *arguments)
        workers = self.workers(3, master.port, url)
        master.expect(SPAWNED)
        time.sleep(7)
        workers[1].kill()
        # Locust itself ends with 0 here; the incomplete figures decide.
        self.assertEqual(master.wait(), 4, master.output())
        merged = self.report()
        self.assertEqual(merged["verdict"], "incomplete")
        # Never more than the master asked for, also where users moved.
        self.assertEqual(merged["model"]["users"], 6)
        lost = [worker for worker in merged["workers"] if not worker["complete"]]
        self.assertEqual([worker["name"] for worker in lost], [workers[1].name])
        self.assertIn(f"worker {workers[1].name}", merged["cut_short"])
        self.assertIn("those of at most 3 s", merged["cut_short"])
        self.assertTrue(3 <= lost[0]["seconds"] <= 9, lost)
        rest = [self.report(workers[place].report.name) for place in (0, 2)]
        kept = list((self.folder / "kept" / "run-1").glob(f"{workers[1].name}*.json"))
        self.assertEqual(len(kept), 1)
        self.assertEqual(counters(merged), added([*rest, self.report(kept[0])]))
        return [report["workers"][0]["users"] for report in rest], rest

    def test_without_rebalancing_its_share_is_missing(self):
        users, rest = self.lose_one()
        self.assertEqual(users, [2, 2])
        for report in rest:
            rate = report["arrivals"]["due"] / report["arrivals"]["seconds"]
            self.assertTrue(18 < rate < 22, rate)

    def test_with_rebalancing_the_others_take_its_share(self):
        users, rest = self.lose_one("--enable-rebalancing")
        self.assertEqual(users, [3, 3])
        # 20 a second until the loss is seen, 30 after it.
        last = [report["series"]["slots"][-5:-1] for report in rest]
        due = sum(slot["due"] for slots in last for slot in slots) / 4
        self.assertTrue(54 < due < 66, due)


class LostMaster(LocustTest):
    def test_a_killed_master_stops_the_load_and_a_restarted_one_gets_the_workers(self):
        url = self.target()
        forwarder = Forwarder()
        self.addCleanup(forwarder.listener.close)
        first = self.headless(2, "-u", 4, "-r", 4, "-t", "5m")
        forwarder.target = first.port
        workers = self.workers(2, forwarder.port, url)
        first.expect(SPAWNED)
        time.sleep(4)
        first.kill()
        for worker in workers:
            worker.expect("the master at .* was lost")
            worker.expect("a run ended: ")
            report = self.report(worker.report.name)
            self.assertIn("the Locust master was lost", report["cut_short"])
            self.assertGreater(requests(report), 0)
        second = self.headless(2, "-u", 4, "-r", 4, "-t", "5s")
        forwarder.target = second.port
        self.assertEqual(second.wait(), 0, second.output())
        names = {worker["name"] for worker in self.report()["workers"]}
        self.assertEqual(len(names), 2)
        self.assertFalse(names & {worker.name for worker in workers}, "a worker kept its name")
        for worker in workers:
            self.assertEqual(worker.wait(), 0, worker.output())
        # The first run, which the killed master cut short, has reports of its own.
        self.assertEqual(counters(self.report()), added(self.own(workers, run=2)))
        for report in self.own(workers):
            self.assertIn("the Locust master was lost", report["cut_short"])


class OtherWorkers(LocustTest):
    def test_a_python_worker_beside_ours_is_named(self):
        url = self.target()
        master = self.headless(2, "-u", 4, "-r", 4, "-t", "8s")
        python = self.start([LOCUST, "-f", "wrapper.py", "--worker", "--master-host", "127.0.0.1", "--master-port", master.port])
        workers = self.workers(1, master.port, url)
        self.assertEqual(master.wait(), 4, master.output())
        python.wait()
        merged = self.report()
        self.assertEqual(counters(merged), counters(self.report(workers[0].report.name)))
        self.assertEqual([worker["complete"] for worker in merged["workers"]], [True, False])
        self.assertIn("sent no figures", merged["cut_short"])

    def test_more_workers_than_users_of_a_class(self):
        url = self.target()
        master = self.headless(3, "-u", 4, "-r", 1, "-t", "10s", "journey", "errors")
        workers = self.workers(3, master.port, url)
        self.assertEqual(master.wait(), 0, master.output())
        own = self.own(workers)
        self.assertEqual(counters(self.report()), added(own))
        self.assertEqual(sorted(report["workers"][0]["users"] for report in own), [1, 1, 2])
        self.assertTrue(any("errors" not in report["labels"] for report in own), "every worker had a user of each class")

    @unittest.skipUnless(OLD_LOCUST, "OLD_LOCUST is not set")
    def test_older_masters(self):
        url = self.target()
        for locust in OLD_LOCUST:
            for arguments in ([], ["--rate", "40"]):
                master = self.headless(2, "-u", 4, "-r", 4, "-t", "6s", *arguments, locust=locust)
                workers = self.workers(2, master.port, url)
                self.assertEqual(master.wait(), 0, master.output())
                own = self.own(workers)
                self.assertEqual(counters(self.report()), added(own))
                self.assertGreater(requests(self.report()), 100)

    @unittest.skipUnless(TOO_OLD_LOCUST, "TOO_OLD_LOCUST is not set")
    def test_a_master_that_is_too_old_is_named(self):
        url = self.target()
        master = self.headless(1, "-u", 1, "-r", 1, "-t", "3s", locust=TOO_OLD_LOCUST)
        worker = self.start([LOADTEST, "worker", "--master", f"127.0.0.1:{master.port}", url])
        self.assertEqual(worker.wait(), 2, worker.output())
        self.assertIn("it is older than Locust 2.10; use 2.15 or newer", worker.output())
        self.assertEqual(master.wait(), 3, master.output())

    def test_a_worker_that_refuses_the_rate_is_named(self):
        url = self.target()
        (self.folder / "limit.toml").write_text("[target]\nrequests-per-second = 5\n", encoding="utf-8")
        master = self.headless(2, "-u", 2, "-r", 2, "-t", "5s", "--rate", "40")
        limited = self.workers(1, master.port, url, "--config", "limit.toml")[0]
        other = self.workers(1, master.port, url)[0]
        self.assertEqual(master.wait(), 4, master.output())
        self.assertIn("the profile limits the target to 5 requests a second", limited.output())
        self.assertIn(f"worker {limited.name} sent no figures", self.report()["cut_short"])
        self.assertEqual(counters(self.report()), counters(self.report(other.report.name)))
        self.assertIn("the profile limits the target", self.rows("exceptions")[0]["Message"])

    def test_users_that_a_worker_does_not_know_are_reported(self):
        url = self.target()
        master = self.headless(1, "-u", 2, "-r", 2, "-t", "5s", "journey", "errors")
        worker = self.workers(1, master.port, url, "-s", "errors")[0]
        master.wait()
        self.assertIn("no scenario for users of the class `journey`", worker.output())
        self.assertEqual(set(self.report()["labels"]), {"errors"})
        exceptions = self.rows("exceptions")
        self.assertIn("no scenario for users of the class `journey`", exceptions[0]["Message"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
