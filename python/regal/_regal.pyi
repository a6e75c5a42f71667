# SPDX-License-Identifier: Apache-2.0
# The extension module that cffi makes (python/make_binding.py).
from typing import Any

ffi: Any
lib: Any
