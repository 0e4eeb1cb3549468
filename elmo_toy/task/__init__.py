"""What a task does with the layers of an extractor, frozen unless said otherwise.

``combine`` turns the layers into one vector a token; ``recurrent`` is a bidirectional layer;
``options`` and ``tagger`` join them into a sequence tagger; ``data`` holds what it is trained on;
``training`` trains it, ``fine_tuning`` trains the extractor with it. ``probes`` (with ``lbfgs``)
are the plainest readers of a representation; ``occlusion`` and ``variants`` ask a trained tagger
questions. All but ``fine_tuning`` work on plain arrays and know no extractor.

Book: chapter 5, "Freeze the extractor".
"""
