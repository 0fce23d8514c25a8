package author

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
)

// What Markdown may ask of those who read it. Texts of people stay far below; beyond,
// a few bytes would take seconds, or make gigabytes.
const (
	maxNested     = 100      // quotes and lists within each other
	maxDelimiters = 1 << 30  // what may begin or end emphasis and links in a block, squared, of all blocks
	maxLinkScan   = 1 << 30  // how often the rest of a line is looked through for the end of a link, in bytes
	extraCells    = 1000     // of tables that their rows leave out
	maxLinkBytes  = 64 << 10 // bytes of addresses and titles of links, each time that they stand there, besides 16 times the text
)

// readable reports that a text can be read as Markdown in a time that fits its length:
// there are short texts for which the reader needs the square of it.
func readable(source []byte) bool {
	var cells, signs, inBlock, targets, columns int
	for line := range bytes.Lines(source) {
		depth, rest := nesting(line)
		if depth > maxNested {
			return false
		}
		if len(rest) == 0 {
			signs += inBlock * inBlock
			inBlock, columns = 0, 0
			continue
		}
		if n := tableColumns(rest); n > 0 {
			columns = max(columns, n)
		}
		cells += columns
		inBlock += countDelimiters(rest)
		targets += bytes.Count(rest, []byte("](")) * len(rest)
		if cells > len(source)+extraCells || targets > maxLinkScan || inBlock*inBlock+signs > maxDelimiters {
			return false
		}
	}
	return true
}

// nesting counts the signs of quotes and lists with which a line begins, and returns
// what follows them.
func nesting(line []byte) (depth int, rest []byte) {
	for {
		line = bytes.TrimLeft(line, " \t\r\n")
		digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
		switch {
		case len(line) == 0:
			return depth, nil
		case line[0] == '>':
			line = line[1:]
		case bytes.IndexByte([]byte("-+*"), line[0]) >= 0 && spaceAt(line, 1):
			line = line[2:]
		case digits > 0 && digits < min(10, len(line)) && (line[digits] == '.' || line[digits] == ')') && spaceAt(line, digits+1):
			line = line[digits+2:]
		default:
			return depth, line
		}
		depth++
	}
}

func spaceAt(line []byte, i int) bool {
	return i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\n' || line[i] == '\r')
}

// delimiters is how many columns a table has if this is the line below its head; 0: it
// cannot be that.
func tableColumns(line []byte) int {
	if len(bytes.Trim(line, "|:- \t\r\n")) > 0 || bytes.IndexByte(line, '-') < 0 {
		return 0
	}
	return bytes.Count(line, []byte("|")) + 1
}

// signsIn counts what may begin or end emphasis or a link; the same again and again
// counts once, but brackets.
func countDelimiters(line []byte) (n int) {
	was := byte(0)
	for _, c := range line {
		if c == '[' || c == ']' || (c == '*' || c == '_' || c == '~') && c != was {
			n++
		}
		was = c
	}
	return n
}

// addresses is how long all addresses and titles of links are together, as HTML has them:
// an address may be written once and stand there a thousand times.
func linkBytes(doc ast.Node, limit int) (n int) {
	_ = ast.Walk(doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.Link:
			n += len(node.Destination) + len(node.Title)
		case *ast.Image:
			n += len(node.Destination) + len(node.Title)
		}
		if n > 2*limit { // counted when it is left, too
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return n / 2
}
