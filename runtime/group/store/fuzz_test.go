package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// joined are frames one after the other, as they travel.
func joined(frames ...frame) []byte {
	var b []byte
	for _, f := range frames {
		b = append(b, encode(f)...)
	}
	return b
}

// FuzzReadRequest compares the bytes that rank 0 reads with the bytes that a client would have written: a request that
// rank 0 understands is the same bytes when it is written again.
func FuzzReadRequest(f *testing.F) {
	f.Add(joined(newFrame(hello).number(version).number(1).number(2).text("j")))
	f.Add(joined(newFrame(hello).number(version + 1)))
	f.Add(joined(newFrame(gather).text("bind plan 1").bytes([]byte("blob"))))
	f.Add(joined(newFrame(giveUp).text("k").bytes([]byte("why"))))
	f.Add(joined(newFrame(tell).text("").bytes([]byte("news"))))
	f.Add([]byte{255, 255, 255, 255, byte(gather)})
	f.Fuzz(func(t *testing.T, sent []byte) {
		if g, err := readGreeting(bytes.NewReader(sent)); err == nil && g.version == version {
			same(t, sent, newFrame(hello).number(version).number(g.rank).number(g.size).text(g.job))
		}
		if e, err := readRequest(bytes.NewReader(sent)); err == nil {
			same(t, sent, newFrame(e.kind).text(e.key).bytes(e.blob))
		}
	})
}

// same fails unless sent begins with the frame.
func same(t *testing.T, sent []byte, f frame) {
	t.Helper()
	if !bytes.HasPrefix(sent, encode(f)) {
		t.Errorf("%x was read as %x", sent, []byte(f))
	}
}

// FuzzReadAnswer holds what a client reads against what rank 0 would have written.
func FuzzReadAnswer(f *testing.F) {
	f.Add(joined(newFrame(result).number(2).bytes([]byte("a")).bytes(nil)))
	f.Add(joined(newFrame(mismatch).texts([]string{"bind", "close"})))
	f.Add(joined(newFrame(missing).text("bind").numbers([]int{1}).numbers([]int{0}).text("did not within 1s")))
	f.Add(joined(newFrame(gone).number(1)))
	f.Add(joined(newFrame(absent).numbers([]int{1}).texts([]string{"rank 1 came and left"})))
	f.Add(joined(newFrame(welcome)))
	f.Add(joined(newFrame(result).number(1 << 30)))
	f.Fuzz(func(t *testing.T, sent []byte) {
		const size = 2
		k, body, err := receive(bytes.NewReader(sent), 1<<16)
		if err != nil {
			return
		}
		again := *body
		switch err := (Config{Job: "j", Size: size}).outcome(k, &again).(type) {
		case *RendezvousError:
			same(t, sent, newFrame(absent).numbers(err.Missing).texts(err.Notes))
			_ = err.Error()
		case nil:
			same(t, sent, newFrame(welcome))
		}
		a, err := readAnswer(k, body, size)
		var g *GoneError
		var m *MissingError
		var x *MismatchError
		switch {
		case errors.As(err, &g):
			same(t, sent, newFrame(gone).number(g.Rank))
		case err != nil:
			if !errors.Is(err, ErrFrame) {
				t.Errorf("%v is no ErrFrame", err)
			}
		case errors.As(a.err, &m):
			same(t, sent, newFrame(missing).text(m.Key).numbers(m.Came).numbers(m.Missing).text(m.Why))
			_ = m.Error()
		case errors.As(a.err, &x):
			same(t, sent, newFrame(mismatch).texts(x.Keys))
			_ = x.Error()
		default:
			same(t, sent, newFrame(result).number(2).bytes(a.blobs[0]).bytes(a.blobs[1]))
		}
	})
}

// greeted is a proper hello of rank 1 of 2, and what follows.
func greeted(rest ...frame) []byte {
	return joined(append([]frame{newFrame(hello).number(version).number(1).number(2).text("j")}, rest...)...)
}

// FuzzServer lets any bytes loose on a rank 0 that waits for rank 1: whatever they
// are, its Join and Gather end within their timeouts with an error of a known type,
// and nothing of it stays behind (the bubble would not end).
func FuzzServer(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), true)
	f.Add(greeted(), true)
	f.Add(greeted(newFrame(gather).text("k").bytes([]byte("b"))), false)
	f.Add(greeted(newFrame(gather).text("other").bytes(nil), newFrame(giveUp).text("k").bytes(nil)), true)
	f.Add(greeted(newFrame(gather).text("k").bytes(nil), newFrame(gather).text("k").bytes(nil)), true)
	f.Add(append(greeted(), 255, 255, 255, 255, byte(gather)), true)
	f.Fuzz(func(t *testing.T, sent []byte, stays bool) {
		synctest.Test(t, func(t *testing.T) {
			c := Config{Job: "j", Size: 2, Timeout: 10 * time.Second, Network: Memory()}
			over := make(chan struct{})
			defer close(over)
			go func() {
				if conn := dial(t, c); conn != nil {
					answerWith(conn, sent, stays, over)
				}
			}()
			start := time.Now()
			client, err := Join(t.Context(), c)
			if err == nil {
				_, err = client.Gather(t.Context(), "k", []byte("mine"))
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			}
			known(t, err)
			if took := time.Since(start); took > 2*c.Timeout+2*margin {
				t.Errorf("it took %v", took)
			}
		})
	})
}

// dial connects as soon as rank 0 listens.
func dial(t *testing.T, c Config) net.Conn {
	for range 100 {
		if conn, err := c.Network.Dial(t.Context(), c.Job); err == nil {
			return conn
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("rank 0 never listened")
	return nil
}

func drain(c net.Conn) {
	var b [512]byte
	for {
		if _, err := c.Read(b[:]); err != nil {
			return
		}
	}
}

// known fails for an error that callers can't branch on.
func known(t *testing.T, err error) {
	t.Helper()
	for _, target := range []any{new(*GoneError), new(*RefusedError), new(*RendezvousError),
		new(*MismatchError), new(*MissingError)} {
		if errors.As(err, target) {
			return
		}
	}
	if err != nil && !errors.Is(err, ErrFrame) {
		t.Errorf("an error of no known type: %v", err)
	}
}

// FuzzClient lets a rank 1 join a rank 0 that answers with any bytes.
func FuzzClient(f *testing.F) {
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), true)
	f.Add(joined(newFrame(accepted)), true)
	f.Add(joined(newFrame(refused).text("why")), true)
	f.Add(joined(newFrame(accepted), newFrame(welcome)), false)
	f.Add(joined(newFrame(accepted), newFrame(welcome), newFrame(result).number(2).bytes(nil).bytes(nil)), true)
	f.Add(joined(newFrame(accepted), newFrame(welcome), newFrame(missing).text("k").numbers(nil).numbers(nil).text("")),
		true)
	f.Add(joined(newFrame(accepted), newFrame(absent).numbers([]int{1}).texts(nil)), true)
	f.Add(binary.LittleEndian.AppendUint32(joined(newFrame(accepted), newFrame(welcome)), 1<<31), true)
	f.Fuzz(func(t *testing.T, sent []byte, stays bool) {
		synctest.Test(t, func(t *testing.T) {
			c := Config{Job: "j", Rank: 1, Size: 2, Timeout: 10 * time.Second, Network: Memory()}
			l, err := c.Network.Listen(c.Job)
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			defer close(over)
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go answerWith(conn, sent, stays, over)
				}
			}()
			start := time.Now()
			client, err := Join(t.Context(), c)
			if err == nil {
				_, err = client.Gather(t.Context(), "k", []byte("mine"))
				client.Close()
			}
			if !errors.Is(err, context.DeadlineExceeded) { // of a rank 0 that is silent in a Gather
				known(t, err)
			}
			if took := time.Since(start); took > 2*c.Timeout+2*margin {
				t.Errorf("it took %v", took)
			}
			l.Close()
		})
	})
}

// answerWith says the same whatever it hears, and stays until all is over or hangs up.
func answerWith(conn net.Conn, sent []byte, stays bool, over <-chan struct{}) {
	defer conn.Close()
	go drain(conn)
	conn.SetWriteDeadline(time.Now().Add(time.Minute))
	conn.Write(sent)
	if stays {
		<-over
	}
}
