"""A worker for a gpbandits service (?bandit_service in R), with nothing but Python's standard library.

    python3 bandit_client.py http://127.0.0.1:8080 TOKEN ROUNDS

asks for a query, evaluates it, reports the reward, ROUNDS times, and prints the best point."""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def words_of(error):
    """The service's words. A proxy before it answers in others, perhaps not as JSON."""
    try:
        return json.load(error)["error"]
    except (ValueError, KeyError, TypeError):
        return error.reason


class Bandit:
    def __init__(self, url, token):
        self.url = url
        self.token = token

    def call(self, path, body=None):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.token})
        if body is not None:
            request.data = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{error.code}: {words_of(error)}") from None

    def suggest(self, worker=None, lease=60, context=None, arms=None):
        """A query. `context`: a dict with a number for each of the bandit's names. `lease=None`: the query is a decision
        for somebody, and never given to anybody else."""
        asked = {"worker": worker, "lease": lease, "context": context, "arms": arms}
        return self.call("/suggest", asked)["queries"][0]

    def observe(self, query, reward):
        return self.call("/observe", {"id": query["id"], "reward": reward, "token": query["token"]})

    def heartbeat(self, query):
        """Renews the query's lease, during a long evaluation. False if the lease has ended."""
        return self.call("/heartbeat", {"token": query["token"]})["renewed"] == 1

    def fail(self, query, reason=None):
        """The evaluation of the query has failed."""
        return self.call("/fail", {"id": query["id"], "token": query["token"], "reason": reason})

    def withdraw(self, query, reason=None):
        """The query will not be evaluated."""
        return self.call("/withdraw", {"id": query["id"], "token": query["token"], "reason": reason})

    def amend(self, query, reward):
        """Replaces a reward that was reported by mistake."""
        return self.call("/amend", {"id": query["id"], "reward": reward, "token": query["token"]})

    def best(self, context=None):
        """The recommended point, with the posterior mean and standard deviation of its reward."""
        named = {f"context[{name}]": value for name, value in (context or {}).items()}
        return self.call("/best" + ("?" + urllib.parse.urlencode(named) if named else ""))


def objective(point):
    return -(point["x1"] - 0.3) ** 2


def main(url, token, rounds):
    bandit = Bandit(url, token)
    for _ in range(int(rounds)):
        query = bandit.suggest(worker=f"python-{os.getpid()}")
        bandit.observe(query, objective(query["point"]))
    print(json.dumps(bandit.best()))


if __name__ == "__main__":
    main(*sys.argv[1:])
