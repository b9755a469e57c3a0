"""Optimisers in Python for bench/shared/programs.R: reads a problem and its values, writes the points to evaluate."""
import json
import sys
import time


def optuna_study(spec):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = {"optuna_tpe": optuna.samplers.TPESampler, "optuna_gp": getattr(optuna.samplers, "GPSampler", None)}
    study = optuna.create_study(sampler=samplers[spec["method"]](seed=spec["seed"]))

    def suggest(trial, one):
        if one["integer"]:
            return trial.suggest_int(one["name"], int(one["lower"]), int(one["upper"]), log=one["log"])
        return trial.suggest_float(one["name"], one["lower"], one["upper"], log=one["log"])

    def ask():
        trial = study.ask()
        return trial, [suggest(trial, one) for one in spec["inputs"]]

    return ask, study.tell


def main():
    spec = json.loads(sys.stdin.readline())
    begun = time.process_time()
    ask, tell = optuna_study(spec)
    trial, x = ask()
    while True:
        print(*(repr(float(value)) for value in x), flush=True)
        line = sys.stdin.readline().strip()
        if line in ("end", ""):
            break
        tell(trial, float(line))
        trial, x = ask()
    print(time.process_time() - begun, flush=True)


main()
