package inject

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
)

// Delay puts a random delay, up to longest, before one in every oneIn operations.
// spin makes the delay on a stream; its own launch is not delayed.
func Delay(spin func(driver.Stream, time.Duration) error, seed uint64, oneIn int,
	longest time.Duration) func(*around.Call) error {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1))
	var spinning atomic.Bool
	return func(c *around.Call) error {
		if !c.Enqueues || spinning.Load() {
			return nil
		}
		mu.Lock()
		skip, d := random.IntN(oneIn) != 0, time.Duration(random.Int64N(int64(longest)+1))
		mu.Unlock()
		if skip {
			return nil
		}
		spinning.Store(true)
		defer spinning.Store(false)
		return spin(c.Stream, d)
	}
}

// Network plays a network between hosts: it puts a delay before each exchange, a latency plus the time of the bytes at
// a rate in bytes a second. spin makes the delay on a stream.
func Network(spin func(driver.Stream, time.Duration) error, rate float64,
	latency time.Duration) func(*around.Call) error {
	return func(c *around.Call) error {
		if c.Collective.Kind != driver.Exchange {
			return nil
		}
		most := c.Collective.Bytes + max(c.Collective.More, 0) // a NIC carries both directions at once
		return spin(c.Stream, latency+time.Duration(float64(most)/rate*float64(time.Second)))
	}
}

// At calls do in place of the n-th call of that name, counted from 1; an empty name counts all calls.
func At(name string, n int64, do func() error) func(*around.Call) error {
	var seen atomic.Int64
	return func(c *around.Call) error {
		if name != "" && c.Name != name || seen.Add(1) != n {
			return nil
		}
		return do()
	}
}

// Fail makes the n-th call of that name fail with err.
func Fail(name string, n int64, err error) func(*around.Call) error {
	return At(name, n, func() error { return fmt.Errorf("%s: injected: %w", name, err) })
}

// Kill ends this process by SIGKILL at the n-th call of that name.
func Kill(name string, n int64) func(*around.Call) error {
	return At(name, n, func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) })
}
