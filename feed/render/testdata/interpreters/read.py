# Prints what Python reads in each file of a folder, one JSON object a line.
import ast, csv, glob, json, os, runpy, sys

csv.field_size_limit(1 << 30)
UNESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def cell(s):
    parts = s.split("\\")
    out, i = parts[0], 1
    while i < len(parts):
        if parts[i] == "":  # two backslashes
            out += "\\" + (parts[i + 1] if i + 1 < len(parts) else "")
            i += 2
            continue
        out += UNESCAPED[parts[i][0]] + parts[i][1:]
        i += 1
    return out


for file in sorted(glob.glob(sys.argv[1] + "/*")):
    if file.endswith(".py"):
        data = runpy.run_path(file)["feed"]
        with open(file, encoding="ascii") as f:
            if ast.literal_eval(f.read().partition("=")[2].strip()) != data:
                sys.exit(file + " is not the same to literal_eval")
    elif file.endswith(".csv"):
        with open(file, encoding="utf-8", newline="") as f:
            data = list(csv.reader(f, strict=True))
    elif file.endswith(".tsv"):
        with open(file, encoding="utf-8", newline="\n") as f:
            data = [[cell(c) for c in line[:-1].split("\t")] for line in f]
    else:
        continue
    print(json.dumps({"file": os.path.basename(file), "data": data}))
