"""``python -m memoranda``: the command line."""

from memoranda.cli import main

if __name__ == "__main__":
    main()
