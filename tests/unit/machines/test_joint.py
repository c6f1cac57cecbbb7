"""Coefficients of joint machines, one column per class or one for two."""

import numpy as np

from maxmargin.machines import joint


def test_two_classes_of_a_joint_machine_are_one():
    coef, biases = joint.one_of_two(np.array([[1.0, 2.0], [5.0, 3.0]]), np.array([1.0, 4.0]))
    np.testing.assert_array_equal(coef, [[4.0, 1.0]])
    np.testing.assert_array_equal(biases, [3.0])
    np.testing.assert_array_equal(joint.one_of_two(*[joint.for_each_class(coef, 2).T, np.zeros(2)])[0], coef)
    three = np.arange(6.0).reshape(3, 2)
    assert joint.one_of_two(three, np.zeros(3))[0] is three
    np.testing.assert_array_equal(joint.for_each_class(three, 3), three.T)
