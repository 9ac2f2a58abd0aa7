"""`python -m porter` is `porter`."""

from porter.cli import main

main()
