"""What a name of the user's module means: who binds it, who changes it, what its value needs."""
