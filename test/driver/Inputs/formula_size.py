"""formula_size.py N FORM: a model whose metric is a mean, N times made FORM of itself."""
import sys

count, form = int(sys.argv[1]), sys.argv[2]
print("model M {\n  dim B, T\n  in x: [B, T]\n  param w: [] = 1\n  loss l = mean(x * w)\n  let y0 = mean(x)")
for i in range(1, count + 1):
    print(f"  let y{i} = " + form.format(i - 1))
print(f"  metric z = y{count}\n}}")
