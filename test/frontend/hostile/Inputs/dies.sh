#!/bin/sh
# A compiler that dies: the control of hostile.py.
kill -ABRT $$
