"""The references are a module of their own beside the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
