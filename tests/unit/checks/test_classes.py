"""Classes: at least two, and in a stream those of its first call."""

import numpy as np
import pytest

from maxmargin import checks


class Stream:
    pass


def test_two_classes_are_needed():
    checks.at_least_two(np.array([0, 1]), "Model")
    with pytest.raises(ValueError, match="Model needs rows of at least 2 classes; y holds only class 7"):
        checks.at_least_two(np.array([7]), "Model")
    with pytest.raises(ValueError, match="y holds no class"):
        checks.at_least_two(np.array([]), "Model")


def test_the_first_call_names_the_classes():
    stream = Stream()
    np.testing.assert_array_equal(checks.stream_classes(stream, np.array([1]), [2, 1, 1]), [1, 2])
    assert vars(stream) == {}
    with pytest.raises(ValueError, match=r"Stream\.partial_fit: the first call needs classes"):
        checks.stream_classes(stream, np.array([1]), None)


def test_later_calls_agree():
    stream = Stream()
    stream.classes_ = np.array([1, 2])
    assert checks.stream_classes(stream, np.array([1]), None) is stream.classes_
    assert checks.stream_classes(stream, np.array([1]), [2, 1]) is stream.classes_
    with pytest.raises(ValueError, match="not what the first call said"):
        checks.stream_classes(stream, np.array([1]), [1, 2, 3])
    with pytest.raises(ValueError, match="labels that classes did not name"):
        checks.stream_classes(stream, np.array([3]), None)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.bool_, object, "U3"])
def test_labels_of_any_type_are_looked_up_among_the_classes(kind):
    known = np.array([0, 1]).astype(kind)
    stream = Stream()
    stream.classes_ = known
    assert checks.stream_classes(stream, np.array([1, 0, 1]).astype(kind), None) is known
    np.testing.assert_array_equal(checks.known_labels(np.array([1, 0]).astype(kind), known, 2), [1, 0])
    if kind is not np.bool_:
        with pytest.raises(ValueError, match=r"labels that classes did not name: .*7"):
            checks.stream_classes(stream, np.array([1, 7, 0, 7]).astype(kind), None)


def test_labels_of_another_type_than_the_classes_are_compared_by_value():
    stream = Stream()
    stream.classes_ = np.array([1, 2])
    assert checks.stream_classes(stream, np.array([1.0, 2.0]), None) is stream.classes_
    with pytest.raises(ValueError, match="labels that classes did not name"):
        checks.stream_classes(stream, np.array([1.5, 2.0]), None)
