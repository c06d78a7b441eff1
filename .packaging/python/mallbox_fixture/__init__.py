"""A whole mall for each test. Under pytest the fixture `mall` is there without an import.

The program is the one of this package; $MALLBOX names another.
"""

import os
import sysconfig

from .client import Answer, Mall, MallboxError, start

__all__ = ["Answer", "Mall", "MallboxError", "start"]

os.environ.setdefault("MALLBOX", os.path.join(sysconfig.get_path("scripts"), "mallbox"))
