"""A turn from a prompt to its end: queue, driver, runner, recorder, retries."""
