"""The contract in other languages: each file reads ../protocol/ and prints one of them."""
