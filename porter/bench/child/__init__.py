"""What runs in the child processes of `porter bench`: the user's code and the PTX machine."""
