"""What came before the mixture, built of the same parts and at its own scope.

``context2vec`` (the slot without its word) and ``cove`` (the encoder of a translator) are trained
here on their own objectives; ``stacks`` is what they share. TagLM needs no module: it is the
tagger of `elmo_toy.task` with both language models' top layers, unmixed, after its first recurrent
layer, which `elmo_toy.experiments.conditions` configures.

Book: chapter 6, "Our own table".
"""
