"""One function against its original: cases, retries, wrong inputs."""
