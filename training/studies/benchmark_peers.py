"""Rows of the benchmark for other libraries, as far as they are installed."""

from __future__ import annotations

import importlib
import importlib.util

import numpy as np

from training.studies.benchmark_rows import Measure, Row, aec_loop, rate


def rlcard_uno(decisions: int) -> Measure:
    """Measure RLCard's UNO with uniformly random legal actions."""
    import rlcard

    env, rng = rlcard.make("uno", config={"seed": 0}), np.random.default_rng(0)

    def work() -> int:
        done = 0
        while done < decisions:
            state, _ = env.reset()
            while not env.is_over():
                state, _ = env.step(int(rng.choice(list(state["legal_actions"]))))
                done += 1
        return done

    return lambda: rate(work)


def open_spiel_states(decisions: int) -> Measure:
    """Measure OpenSpiel's crazy_eights from Python, with an observation at every decision."""
    import pyspiel

    game, rng = pyspiel.load_game("crazy_eights"), np.random.default_rng(0)

    def work() -> int:
        done = 0
        while done < decisions:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    actions, weights = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(int(rng.choice(actions, p=weights)))
                else:
                    state.observation_tensor()
                    state.apply_action(int(rng.choice(state.legal_actions())))
                    done += 1
        return done

    return lambda: rate(work)


def open_spiel_bots(games: int) -> Measure:
    """Measure OpenSpiel's crazy_eights in its C++ loop over random bots."""
    import pyspiel

    game = pyspiel.load_game("crazy_eights")
    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(game.num_players())]

    def work() -> int:
        done = 0
        for seed in range(games):
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, seed)
            done += sum(item.player >= 0 for item in state.full_history())
        return done

    return lambda: rate(work)


def pettingzoo_game(name: str, decisions: int) -> Measure:
    """Measure a classic game of PettingZoo; `name` is "MODULE:ATTRIBUTE"."""
    module, attribute = name.split(":")
    imported = importlib.import_module(f"pettingzoo.classic.{module}")
    return aec_loop(getattr(imported, attribute), decisions)


def peer_rows(scale: float) -> list[Row]:
    """Return the rows of the installed libraries."""
    decisions, rows = max(1, int(10_000 * scale)), []
    for game in ("connect_four", "tictactoe"):
        if importlib.util.find_spec("pygame"):
            for attribute in ("raw_env", "env"):
                module = f"{game}.{game}:{attribute}"
                measure = pettingzoo_game(module, decisions)
                rows.append(Row(f"PettingZoo {game} {attribute}", "decisions/s", measure))
    if importlib.util.find_spec("rlcard"):
        rows.append(Row("RLCard UNO", "decisions/s", rlcard_uno(decisions)))
    if importlib.util.find_spec("pyspiel"):
        states, bots = open_spiel_states(decisions), open_spiel_bots(max(1, int(2_000 * scale)))
        rows.append(Row("OpenSpiel crazy_eights, states, observed", "decisions/s", states))
        rows.append(Row("OpenSpiel crazy_eights, C++ bots", "decisions/s", bots))
    return rows
