package cli

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// maxMemory is how many bytes the program may come to hold. The largest repositories take a tenth of it; beyond it some
// file makes kustomize copy what it copied, again and again, and the next to go would be the machine.
const maxMemory = 4 << 30

// guard ends the context with an error that says why when the process holds more than maxMemory, or than GOMEMLIMIT
// where that is set.
func guard(ctx context.Context) (context.Context, func()) {
	limit := int64(maxMemory)
	if l := debug.SetMemoryLimit(-1); l != math.MaxInt64 {
		limit = l
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if held() > limit {
					cancel(fmt.Errorf("stopped at %d MiB of memory: some file makes copies of copies (replacements, JSON patches, "+
						"folders that include each other); --env NAME and --entry NAME=PATH narrow down where, GOMEMLIMIT sets another bound", limit>>20))
					return
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// held is the memory that the program holds, in bytes, less what it gave back.
func held() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// abandonable runs f and does not wait for it once the context ends: a build by kustomize cannot be stopped, and
// nothing that f does outlives the process.
func abandonable[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f(ctx)
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
