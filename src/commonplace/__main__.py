"""``python -m commonplace``: the command line."""

from commonplace.surfaces.cli import main

if __name__ == "__main__":
    main()
