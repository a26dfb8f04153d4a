"""The command ``python -m training.approach``; see `training.studies.nash_convergence`."""

from training.studies.nash_convergence import main

if __name__ == "__main__":
    main()
