package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// An open file goes from process to process by SCM_RIGHTS. The store's connections can't carry it: over several hosts
// they are TLS, and on one host they all end at rank 0, which would have to hold the files of all ranks. So a rank that
// hands files listens at a separate name, and the ranks of its machine take the files there. pidfd_getfd would need no
// socket, but the rights of a debugger, which containers and Yama refuse to sibling processes. Opening /proc/PID/fd
// opens a file anew, which does not work for memory that CUDA exports.

// atOnce is the number of files that go with one byte; Linux takes at most 253.
const atOnce = 250

// ErrFiles says that a rank did not hand the files that another rank expected of it.
var ErrFiles = errors.New("the rank does not hand them (it may have ended; see its output)")

// Handing has the files that the ranks of this machine may take.
type Handing struct {
	listener net.Listener
	files    []*os.File
	wg       sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool // nil once closed
}

// Hand lets the other ranks of a job on this machine take files from this rank until Close. The caller keeps them open.
func Hand(n Network, job string, rank int, files []*os.File) (*Handing, error) {
	l, err := machine(n).Listen(counter(job, rank))
	if err != nil {
		return nil, fmt.Errorf("hand %d files: %w", len(files), err)
	}
	h := &Handing{listener: l, files: files, conns: map[net.Conn]bool{}}
	h.wg.Go(h.accept)
	return h, nil
}

// machine is the network of this machine's ranks.
func machine(n Network) Network {
	if Spans(n) {
		return Unix()
	}
	return n
}

// counter is the name at which a rank hands files.
func counter(job string, rank int) string { return fmt.Sprintf("%s/files/%d", job, rank) }

func (h *Handing) accept() {
	for {
		c, err := h.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptor is free; other goroutines may free some
			time.Sleep(dialAgain)
			continue
		}
		h.mu.Lock()
		open := h.conns != nil
		if open {
			h.conns[c] = true
			h.wg.Go(func() {
				_ = sendFiles(c, h.files) // the taker sees the end of the connection
				h.drop(c)
			})
		}
		h.mu.Unlock()
		if !open {
			c.Close()
			return
		}
	}
}

func (h *Handing) drop(c net.Conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	c.Close()
}

// Close ends the handing, also for a rank that is taking files.
func (h *Handing) Close() error {
	err := h.listener.Close()
	h.mu.Lock()
	for c := range h.conns {
		c.Close()
	}
	h.conns = nil
	h.mu.Unlock()
	h.wg.Wait()
	return err
}

// Take returns the files that a rank of this machine hands; the caller closes them. The error wraps ErrFiles where that
// rank is gone or hands another number of files, and ctx's error where ctx ends first.
func Take(ctx context.Context, n Network, job string, rank, count int) ([]*os.File, error) {
	what := fmt.Sprintf("take %d files from rank %d", count, rank)
	c, err := machine(n).Dial(ctx, counter(job, rank))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		<-ctx.Done() // the dial knows the same deadline, and may see it first
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", what, ErrFiles, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	files, err := receiveFiles(c, count)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", what, ErrFiles, err)
	}
	return files, nil
}

// sendFiles writes the number of files, and then the files.
func sendFiles(c net.Conn, files []*os.File) error {
	if _, err := c.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(files)))); err != nil {
		return err
	}
	for len(files) > 0 {
		n := min(len(files), atOnce)
		var numbers []int
		for _, f := range files[:n] {
			numbers = append(numbers, int(f.Fd()))
		}
		if err := sendNumbers(c, numbers); err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

func receiveFiles(c net.Conn, count int) (files []*os.File, err error) {
	defer func() {
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
		}
	}()
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(head[:]); int64(n) != int64(count) {
		return nil, fmt.Errorf("it has %d", n)
	}
	for len(files) < count {
		numbers, err := receiveNumbers(c, min(count-len(files), atOnce))
		for _, fd := range numbers {
			files = append(files, os.NewFile(uintptr(fd), "shared memory"))
		}
		if err != nil {
			return files, err
		}
	}
	return files, nil
}

// sendNumbers sends descriptors. Between ranks of one process it sends the numbers, and the process id as a check.
func sendNumbers(c net.Conn, numbers []int) error {
	if u, ok := c.(*net.UnixConn); ok {
		_, _, err := u.WriteMsgUnix([]byte{1}, unix.UnixRights(numbers...), nil)
		return err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(os.Getpid()))
	for _, fd := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(fd))
	}
	if _, err := c.Write(b); err != nil {
		return err
	}
	_, err := io.ReadFull(c, b[:1]) // the receiver has duplicated them
	return err
}

// receiveNumbers returns count descriptors of this process, or fewer and an error; the caller closes them.
func receiveNumbers(c net.Conn, count int) (numbers []int, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return duplicates(c, count)
	}
	var one [1]byte
	rights := make([]byte, unix.CmsgSpace(4*count))
	n, have, flags, _, err := u.ReadMsgUnix(one[:], rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:have])
	for i := range messages {
		if list, wrong := unix.ParseUnixRights(&messages[i]); wrong == nil {
			numbers = append(numbers, list...)
		}
	}
	switch {
	case err != nil:
	case n == 0:
		err = io.ErrUnexpectedEOF
	case flags&unix.MSG_CTRUNC != 0:
		err = fmt.Errorf("%d of %d came (raise the limit of open files, ulimit -n)", len(numbers), count)
	case len(numbers) != count:
		err = fmt.Errorf("%d of %d came", len(numbers), count)
	}
	return numbers, err
}

// duplicates reads the numbers that a rank of this process sent, and duplicates the descriptors.
func duplicates(c net.Conn, count int) (numbers []int, err error) {
	b := make([]byte, 4+4*count)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	if pid := binary.LittleEndian.Uint32(b); int(pid) != os.Getpid() {
		return nil, fmt.Errorf("they are files of process %d, and this network carries none", pid)
	}
	for i := range count {
		fd, err := unix.FcntlInt(uintptr(binary.LittleEndian.Uint32(b[4+4*i:])), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return numbers, err
		}
		numbers = append(numbers, fd)
	}
	_, err = c.Write([]byte{1})
	return numbers, err
}
