"""The module in AllenNLP's manner: its order of operations, what is trainable, its gradients."""

from collections.abc import Callable

import numpy as np
import pytest

from elmo_toy import text
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.extractor import Elmo, ElmoOutput
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.scalar_mix import ScalarMix, scalar_mix

MakeModel = Callable[..., BiLM]

SENTENCES = [["the", "river", "bank", "flooded"], ["bank"], [], ["the", "bank", "the"]]
LOGITS = [0.3, -0.2, 0.9]


@pytest.fixture(params=[True, False], ids=["characters", "lookup"])
def model(request: pytest.FixtureRequest, make_model: MakeModel) -> BiLM:
    return make_model(characters=request.param)


# What comes out


def test_a_fresh_mixture_is_the_plain_mean_of_the_layers(model: BiLM) -> None:
    elmo = Elmo(model)
    output = elmo.forward(elmo.ids(SENTENCES))
    layers, mask = model.embed(SENTENCES)
    assert len(output.representations) == 1
    np.testing.assert_allclose(output.representations[0], layers.mean(axis=1), atol=1e-14)
    np.testing.assert_array_equal(output.mask, mask)


def test_forward_passes_learn_nothing(model: BiLM) -> None:
    elmo = Elmo(model)
    first, second = (elmo.forward(elmo.ids(SENTENCES)).representations[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert elmo.mixtures[0].logits.tolist() == [0, 0, 0]
    assert elmo.mixtures[0].gamma == 1


def test_mixtures_start_equal_are_not_layers_and_part_when_trained_apart(model: BiLM) -> None:
    elmo = Elmo(model, 2)
    ids = elmo.ids(SENTENCES)
    output = elmo.forward(ids)
    first, second = output.representations
    np.testing.assert_array_equal(first, second)
    assert output.read.layers.shape[1] == 3
    gradients = elmo.gradients([np.ones_like(first), -np.ones_like(first)], output)
    for mixture, gradient in zip(elmo.mixtures, gradients.mixtures, strict=True):
        mixture.step(gradient, 0.1)
    first, second = elmo.forward(ids).representations
    assert np.abs(first - second).max() > 1e-3


def test_mix_with_boundaries_then_remove_them(model: BiLM) -> None:
    """The layer norm's statistics include the boundaries, unlike bilm-tf's."""
    elmo = Elmo(model, do_layer_norm=True)
    output = elmo.forward(elmo.ids(SENTENCES))
    read = model.layers(text.Batch.from_ids(model.ids(SENTENCES)))
    norm = LayerNorm(1e-13, boundaries="counted")
    mixed = scalar_mix(read.layers, [0.0, 0.0, 0.0], 1.0, read.mask, norm)
    np.testing.assert_array_equal(output.representations[0][0], mixed[0, 1:5])
    bilm_tf = scalar_mix(*_unbounded(model), LayerNorm(1e-12))
    assert np.abs(output.representations[0] - bilm_tf).max() > 0.01


def _unbounded(model: BiLM) -> tuple[FloatArray, list[float], float, FloatArray]:
    layers, mask = model.embed(SENTENCES)
    return layers, [0.0, 0.0, 0.0], 1.0, mask


def test_layer_norm_makes_a_sentence_depend_on_its_batch_and_plain_mixing_does_not(
    model: BiLM,
) -> None:
    for layer_norm in (True, False):
        elmo = Elmo(model, do_layer_norm=layer_norm)
        alone = elmo.forward(elmo.ids([["bank"]])).representations[0][0, 0]
        beside = elmo.forward(elmo.ids([["bank"], SENTENCES[0]])).representations[0][0, 0]
        assert bool(np.abs(alone - beside).max() > 1e-3) is layer_norm


@pytest.mark.parametrize("layer_norm", [True, False])
@pytest.mark.parametrize("keep", [True, False])
def test_padding_is_exactly_zero(model: BiLM, layer_norm: bool, keep: bool) -> None:
    elmo = Elmo(model, do_layer_norm=layer_norm, keep_sentence_boundaries=keep)
    output = elmo.forward(elmo.ids(SENTENCES))
    assert not output.representations[0][~output.mask].any()
    assert output.representations[0][output.mask].any(axis=-1).all()


def test_keep_sentence_boundaries_is_two_tokens_more(model: BiLM) -> None:
    kept, dropped = (
        elmo.forward(elmo.ids(SENTENCES))
        for elmo in (Elmo(model, keep_sentence_boundaries=True), Elmo(model))
    )
    assert kept.mask.sum(axis=1).tolist() == [6, 3, 2, 5]
    assert dropped.mask.sum(axis=1).tolist() == [4, 1, 0, 3]
    np.testing.assert_array_equal(kept.representations[0][0, 1:5], dropped.representations[0][0])


def test_a_batch_of_blank_sentences_has_no_token(model: BiLM) -> None:
    elmo = Elmo(model)
    output = elmo.forward(elmo.ids([[], []]))
    assert output.representations[0].shape == (2, 0, 6)
    assert output.mask.shape == (2, 0)


# Dropout


def test_dropout_is_half_by_default_and_only_in_training(model: BiLM) -> None:
    elmo = Elmo(model, 2)
    assert elmo.dropout == 0.5
    ids = elmo.ids([["the", "bank"] * 40])
    plain = elmo.forward(ids)
    trained = elmo.forward(ids, training=True, rng=np.random.default_rng(0))
    assert plain.dropped == (None, None)
    for before, after in zip(plain.representations, trained.representations, strict=True):
        kept = after != 0
        assert 0.4 < kept.mean() < 0.6
        np.testing.assert_array_equal(after[kept], 2 * before[kept])
    first, second = trained.representations
    assert (first != second).any()  # each mixture draws its own


def test_no_dropout_needs_no_generator_and_some_dropout_does(model: BiLM) -> None:
    elmo = Elmo(model, dropout=0.0)
    ids = elmo.ids(SENTENCES)
    np.testing.assert_array_equal(
        elmo.forward(ids, training=True).representations[0], elmo.forward(ids).representations[0]
    )
    with pytest.raises(ValueError, match="rng: expected a numpy Generator for dropout"):
        Elmo(model).forward(ids, training=True)
    with pytest.raises(ValueError, match=r"rng: expected a numpy Generator .*, got 3"):
        Elmo(model).forward(ids, training=True, rng=3)  # type: ignore[arg-type] # a seed
    with pytest.raises(TypeError, match=r"ids: expected the array that Elmo.ids makes, got a list"):
        Elmo(model).forward(SENTENCES)  # type: ignore[arg-type] # words


# Who is trained


def test_by_default_four_numbers_a_mixture_are_trainable_and_the_biLM_is_frozen(  # noqa: N802
    model: BiLM,
) -> None:
    assert Elmo(model).trainable == {"mixture_0/logits": 3, "mixture_0/gamma": 1}
    assert sum(Elmo(model).trainable.values()) == 4
    assert sum(Elmo(model, 3).trainable.values()) == 12


def test_requires_grad_adds_every_number_of_the_biLM_but_its_head(  # noqa: N802
    model: BiLM,
) -> None:
    elmo = Elmo(model, 2, requires_grad=True)
    sizes = elmo.trainable
    numbers = sum(v.size for name, v in model.parameters.items() if "softmax" not in name)
    assert sum(sizes.values()) == 8 + numbers
    assert not any("softmax" in name for name in sizes)
    batch = text.Batch.from_ids(model.ids(SENTENCES))
    moved = model.layer_gradients(batch, np.ones_like(model.layers(batch).layers))
    assert {f"bilm/{name}" for name in moved} == {name for name in sizes if "bilm/" in name}


def test_with_fixed_parameters_nothing_is_trainable_gamma_included(model: BiLM) -> None:
    elmo = Elmo(model, scalar_mix_parameters=LOGITS)
    assert elmo.trainable == {}
    output = elmo.forward(elmo.ids(SENTENCES))
    gradients = elmo.gradients([np.ones_like(output.representations[0])], output)
    elmo.mixtures[0].step(gradients.mixtures[0], 1.0)
    assert elmo.mixtures[0].logits.tolist() == LOGITS
    assert elmo.mixtures[0].gamma == 1


def test_a_model_of_one_contextual_layer_has_three_trainable_numbers(
    make_model: MakeModel,
) -> None:
    assert sum(Elmo(make_model(n_layers=1)).trainable.values()) == 3


def test_fixed_parameters_are_logits_so_0_0_1_does_not_select_the_top_layer(model: BiLM) -> None:
    layers, _ = model.embed(SENTENCES)
    soft, hard = (
        Elmo(model, scalar_mix_parameters=logits) for logits in ([0, 0, 1], [-9e10, -9e10, 1])
    )
    np.testing.assert_allclose(soft.mixtures[0].weights, [0.2119, 0.2119, 0.5761], atol=1e-4)
    out = hard.forward(hard.ids(SENTENCES)).representations[0]
    np.testing.assert_array_equal(out, layers[:, 2])


def test_learned_weights_and_gamma_can_be_read(model: BiLM) -> None:
    elmo = Elmo(model, scalar_mix_parameters=LOGITS)
    assert isinstance(elmo.mixtures[0], ScalarMix)
    assert elmo.mixtures[0].weights.sum() == pytest.approx(1)


# Gradients


def loss(output: ElmoOutput, upstreams: list[FloatArray]) -> float:
    return sum(float((u * r).sum()) for u, r in zip(upstreams, output.representations, strict=True))


@pytest.mark.parametrize("layer_norm", [True, False])
@pytest.mark.parametrize("keep", [True, False])
def test_every_gradient_is_the_central_difference_down_to_the_characters(
    model: BiLM, layer_norm: bool, keep: bool
) -> None:
    """Two mixtures with dropout; logits, gamma, and some numbers of every parameter below."""
    elmo = Elmo(
        model,
        2,
        requires_grad=True,
        do_layer_norm=layer_norm,
        dropout=0.3,
        keep_sentence_boundaries=keep,
    )
    rng = np.random.default_rng(1)
    for mixture in elmo.mixtures:
        mixture.logits, mixture.gamma = rng.normal(size=3), float(rng.normal())
    ids = elmo.ids(SENTENCES)

    def forward() -> ElmoOutput:
        return elmo.forward(ids, training=True, rng=np.random.default_rng(5))

    output = forward()
    upstreams = [rng.normal(size=r.shape) for r in output.representations]
    gradients = elmo.gradients(upstreams, output)
    step = 1e-6

    def numeric(change: Callable[[float], None]) -> float:
        ends = []
        for amount in (step, -2 * step):
            change(amount)
            ends.append(loss(forward(), upstreams))
        change(step)
        return (ends[0] - ends[1]) / (2 * step)

    for mixture, gradient in zip(elmo.mixtures, gradients.mixtures, strict=True):
        for j in range(3):

            def move_logit(amount: float, j: int = j, mixture: ScalarMix = mixture) -> None:
                mixture.logits[j] += amount

            assert numeric(move_logit) == pytest.approx(gradient.logits[j], rel=1e-6, abs=1e-7)

        def move_gamma(amount: float, mixture: ScalarMix = mixture) -> None:
            mixture.gamma += amount

        assert numeric(move_gamma) == pytest.approx(gradient.gamma, rel=1e-6, abs=1e-7)

    assert gradients.layers is not None
    below = model.layer_gradients(output.batch, gradients.layers)
    for name, value in below.items():
        largest = np.argsort(np.abs(value), axis=None)[-2:]
        for index in (np.unravel_index(i, value.shape) for i in largest):

            def move(amount: float, name: str = name, index: object = index) -> None:
                model.parameters[name][index] += amount  # type: ignore[index] # numpy's own

            assert value[index] != 0, name
            assert numeric(move) == pytest.approx(value[index], rel=1e-5, abs=1e-7), name


def test_a_frozen_model_gets_no_gradient_while_logits_and_gamma_do(model: BiLM) -> None:
    elmo = Elmo(model)
    output = elmo.forward(elmo.ids(SENTENCES))
    rng = np.random.default_rng(0)
    gradients = elmo.gradients([rng.normal(size=output.representations[0].shape)], output)
    assert gradients.layers is None
    assert gradients.mixtures[0].gamma != 0
    assert gradients.mixtures[0].logits.all()
    assert gradients.mixtures[0].logits.sum() == pytest.approx(0)


def test_what_stands_at_padding_in_the_upstream_changes_no_gradient(model: BiLM) -> None:
    elmo = Elmo(model, requires_grad=True)
    output = elmo.forward(elmo.ids(SENTENCES))
    clean = np.ones_like(output.representations[0])
    dirty = np.where(output.mask[:, :, None], clean, 1e6)
    one, other = (elmo.gradients([upstream], output) for upstream in (clean, dirty))
    np.testing.assert_array_equal(one.layers, other.layers)
    assert one.mixtures[0].gamma == other.mixtures[0].gamma


# Arguments


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"num_output_representations": 0}, ValueError, "at least 1 mixture, got 0"),
        ({"num_output_representations": True}, TypeError, "how many mixtures, got True"),
        ({"num_output_representations": 1.0}, TypeError, "how many mixtures, got 1.0"),
        ({"dropout": 1.0}, ValueError, "dropout: expected at least 0 and below 1, got 1.0"),
        ({"dropout": -0.1}, ValueError, "dropout: expected at least 0 and below 1, got -0.1"),
        ({"dropout": "0.5"}, TypeError, "dropout: expected a number, got '0.5'"),
        ({"do_layer_norm": "scalar_norm_reg"}, TypeError, "do_layer_norm: expected True or False"),
        ({"requires_grad": 1}, TypeError, "requires_grad: expected True or False, got 1"),
        ({"scalar_mix_parameters": [0, 1]}, ValueError, r"expected 3 logits, .* got shape \(2,\)"),
        ({"scalar_mix_parameters": []}, ValueError, r"expected 3 logits, .* got shape \(0,\)"),
    ],
    ids=str,
)
def test_each_argument_is_refused_by_name(
    make_model: MakeModel, arguments: dict[str, object], kind: type[Exception], message: str
) -> None:
    (name,) = arguments
    with pytest.raises(kind, match=rf"{name}: .*{message.removeprefix(name + ': ')}"):
        Elmo(make_model(), **arguments)  # type: ignore[arg-type] # wrong on purpose


def test_word_ids_for_a_character_model_and_the_other_way_round_are_one_clear_error(
    make_model: MakeModel,
) -> None:
    spelled, looked_up = Elmo(make_model(characters=True)), Elmo(make_model())
    ids = spelled.ids(SENTENCES), looked_up.ids(SENTENCES)
    assert ids[0].shape == (4, 4, 8)
    assert ids[1].shape == (4, 4)
    with pytest.raises(ValueError, match=r"reads character ids \(batch, tokens, 8\), got .*4, 4\)"):
        spelled.forward(ids[1])
    with pytest.raises(ValueError, match=r"reads character ids .* got shape \(4, 4, 7\)"):
        spelled.forward(ids[0][:, :, :7])
    with pytest.raises(ValueError, match=r"reads word ids \(batch, tokens\), got .*\(4, 4, 8\)"):
        looked_up.forward(ids[0])
    with pytest.raises(ValueError, match="ids: this model reads"):
        spelled.forward(ids[0][0])


def test_tokens_in_are_tokens_out_and_boundaries_brought_along_are_refused(model: BiLM) -> None:
    elmo = Elmo(model)
    output = elmo.forward(elmo.ids(SENTENCES))
    assert output.mask.sum(axis=1).tolist() == [len(sentence) for sentence in SENTENCES]
    with pytest.raises(ValueError, match="row 0 brings its boundaries along"):
        elmo.forward(model.ids(SENTENCES))


def test_a_hole_in_the_padding_is_refused(model: BiLM) -> None:
    elmo = Elmo(model)
    ids = elmo.ids(SENTENCES)
    ids[0, 1] = 0
    with pytest.raises(ValueError, match="row 0 has a hole"):
        elmo.forward(ids)


def test_upstreams_of_another_number_or_shape_are_refused(model: BiLM) -> None:
    elmo = Elmo(model, 2)
    output = elmo.forward(elmo.ids(SENTENCES))
    upstream = np.ones_like(output.representations[0])
    with pytest.raises(ValueError, match="upstreams: expected 2, one a mixture, got 1"):
        elmo.gradients([upstream], output)
    with pytest.raises(ValueError, match="upstreams: expected the representation's shape"):
        elmo.gradients([upstream, upstream[:, 1:]], output)


def test_a_model_is_expected() -> None:
    with pytest.raises(TypeError, match="model: expected a BiLM, got str"):
        Elmo("original")  # type: ignore[arg-type] # a name is no model
