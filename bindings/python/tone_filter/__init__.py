from ._native import *
from ._native import __all__ as __all__
from ._native import __doc__ as __doc__
