package river

import (
	"context"
	"time"
)

// listing is what the river keeps in memory of lists, notices and who follows what.
type listing struct{}

// workOnce reads reading lists and sends notices that are due. did says that there may be
// more at once; next is when there is something again, as far as is known (zero: never,
// until the river is woken).
func (r *River) workOnce(ctx context.Context) (did bool, next time.Time) { return false, time.Time{} }
