# SPDX-License-Identifier: Apache-2.0
"""Programs of kernels on streams that share one device.

Plain Python without torch: what kernels read and write (`access`, `program`),
what streams do (`schedule`), how long that takes (`sharing`), and which plans
are tried (`trials`). `regal.torch` makes programs of models and runs schedules.
"""
