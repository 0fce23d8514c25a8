package compare

import "context"

// ReadOnce runs one round of yarr and returns the figures by name.
func (o Options) ReadOnce(ctx context.Context) (map[string]float64, error) {
	figures := map[string]float64{}
	err := o.reader(ctx, o.yarr, func(figure string, v float64) { figures[figure] = v })
	return figures, err
}

// NewRow returns the row of a figure with the values of both programs.
func NewRow(figure string, ours, theirs []float64) Row {
	r := Row{Figure: figure, Unit: units()[figure], Ours: ours, Theirs: theirs}
	r.compare()
	return r
}
