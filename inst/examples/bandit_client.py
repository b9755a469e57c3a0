"""A worker for a gpbandits service (?bandit_service in R), with nothing but Python's standard library.

    python3 bandit_client.py http://127.0.0.1:8080 TOKEN ROUNDS

asks for a query, evaluates it, tells the reward, ROUNDS times, and prints the best point."""

import json
import os
import sys
import urllib.error
import urllib.request


class Bandit:
    def __init__(self, url, token):
        self.url = url
        self.token = token

    def call(self, path, body=None):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.token})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{error.code}: {json.load(error)['error']}") from None

    def suggest(self, worker=None, lease=60, context=None, arms=None):
        """A query. `context`: a dict with a number for each of the bandit's names. `lease=None`: the query is a decision
        for somebody, and never given to anybody else."""
        asked = {"worker": worker, "lease": lease, "context": context, "arms": arms}
        return self.call("/suggest", {k: v for k, v in asked.items() if v is not None or k == "lease"})["queries"][0]

    def observe(self, query, reward):
        return self.call("/observe", {"id": query["id"], "reward": reward, "token": query["token"]})

    def withdraw(self, query, reason=None):
        """The query will never be answered."""
        asked = {"id": query["id"], "token": query["token"], "reason": reason}
        return self.call("/withdraw", {k: v for k, v in asked.items() if v is not None})

    def amend(self, query, reward):
        """The reward that was told is wrong: its new value."""
        return self.call("/amend", {"id": query["id"], "reward": reward, "token": query["token"]})


def objective(point):
    return -(point["x1"] - 0.3) ** 2


def main(url, token, rounds):
    bandit = Bandit(url, token)
    for _ in range(int(rounds)):
        query = bandit.suggest(worker=f"python-{os.getpid()}")
        bandit.observe(query, objective(query["point"]))
    print(json.dumps(bandit.call("/best")))


if __name__ == "__main__":
    main(*sys.argv[1:])
