"""Who answers: model APIs over HTTP, a scripted model, a model without a network."""
