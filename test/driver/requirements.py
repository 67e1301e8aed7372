"""Files of one row of reals for requirements.test, and what a run puts out.

requirements.py SUPPORT FILE NUMBER..   writes them as .npy, of shape [1, numbers]
requirements.py SUPPORT --show FOLDER   prints the outputs there, by name
"""
import os
import sys

sys.path.insert(0, sys.argv[1])
import tensors  # pylint: disable=wrong-import-position

if sys.argv[2] == "--show":
    for name in sorted(os.listdir(sys.argv[3])):
        print(name.removesuffix(".npy"), *(f"{number:g}" for number in tensors.load_npy(os.path.join(sys.argv[3], name)).values))
else:
    numbers = [float(word) for word in sys.argv[3:]]
    tensors.save_npy(sys.argv[2], tensors.Tensor("f32", [1, len(numbers)], numbers))
