"""Every case, by family."""
from cases import CASES  # noqa: F401
import decoders  # noqa: F401
import encoders  # noqa: F401
import modern  # noqa: F401
import pictures  # noqa: F401
import sequences  # noqa: F401
