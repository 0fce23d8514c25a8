package sanitize

// A text with one unusual tag is ordinary before and after this tag. The fast path passes such a
// tag and the open elements to the builder. It takes the open elements back when they are ordinary
// again.

// Each turn of the builder starts a tokenizer, which costs as much as reading some hundred bytes.
// The maximum number of turns is in proportion to the length of the text, so that hostile texts
// cost little more than ordinary texts.
const (
	firstTurns   = 8
	bytesPerTurn = 512
)

// mixedHTML returns what the builder alone would return for s. ok is false if s is too long.
func (z *Sanitizer) mixedHTML(s string) (out string, ok bool) {
	if len(s) > z.longest {
		return "", false
	}
	q := fastPath{z: z, s: s}
	q.stack[0].in = flow
	for turns := firstTurns + len(s)/bytesPerTurn; !q.read(); turns-- {
		q.build(turns > 0)
	}
	out = q.end()
	return out, len(out) <= z.longest
}

// build lets the builder read the text from q.safe on. If back is true, the builder reads until the
// fast path can continue; otherwise it reads to the end. Afterwards q is at the position that the
// builder has reached.
func (q *fastPath) build(back bool) {
	q.progress, q.out = q.safe, q.out[:q.safe.written]
	q.replace(q.at, q.at, "")
	rest := q.s[q.at:]
	if q.b == nil {
		rest = unambiguous(rest)
		q.b = &builder{z: q.z, credit: q.at + len(rest) + formattingCredit}
	}
	q.lend()
	var enough func() bool
	if back {
		enough = q.takeBack
	}
	n := 0
	if rest != "" {
		n = q.b.read(rest, enough)
	}
	q.s, q.at, q.done = rest, n, n
	if n == len(rest) {
		q.b.popTo(0)
		q.depth = 0
	}
	q.out = q.b.out
}

// lend gives the output and the open elements to the builder.
func (q *fastPath) lend() {
	b := q.b
	b.out, b.stack, b.pending, b.seq, b.fresh, b.preAt = q.out, b.stack[:0], b.pending[:0], q.depth, q.fresh, -1
	if b.fresh {
		b.preAt = len(b.out)
	}
	for i := 1; i <= q.depth; i++ {
		at := &q.stack[i]
		e := at.is.e
		b.stack = append(b.stack, open{e: e, from: at.from, to: at.to, seq: i})
		if e.is(boundary) && e.is(tablePart) {
			b.pending = append(b.pending, open{})
		}
	}
}

// takeBack takes the open elements back from the builder, and reports whether they are ordinary and
// nothing else affects the text after them.
func (q *fastPath) takeBack() bool {
	b := q.b
	if b.silent > 0 || b.skip != "" || b.fresh != (b.preAt == len(b.out)) {
		return false
	}
	for i := range b.pending {
		if b.pending[i].e != nil {
			return false
		}
	}
	q.progress = progress{fresh: b.fresh}
	for i := range b.stack {
		at := &b.stack[i]
		o := ordinaries.get(at.e.name)
		if o == nil || o.e != at.e || at.ended || q.stack[q.depth].in&o.at == 0 || q.stack[q.depth].in == groups && o.in == cells || !q.open(o) {
			return false
		}
		q.stack[q.depth].from, q.stack[q.depth].to = at.from, at.to
	}
	return true
}
