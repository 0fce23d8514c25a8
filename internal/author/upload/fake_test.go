package upload_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// memoryFiles is a FileStore in memory.
type memoryFiles struct {
	mu     sync.Mutex
	files  map[string]author.File // key: user and hash
	pieces map[string][]byte      // key: hash or temp, and number of the piece
	begun  map[string]time.Time   // key: temp; value: start of the upload
	object map[string]string      // key: hash, or name of the object during the upload; value: name of the object
	fail   error                  // error that all writes return
}

func newMemoryFiles() *memoryFiles {
	return &memoryFiles{files: map[string]author.File{}, pieces: map[string][]byte{}, begun: map[string]time.Time{}, object: map[string]string{}}
}

func pieceKey(of string, n int) string { return fmt.Sprintf("%s %d", of, n) }

func (s *memoryFiles) PutFilePiece(ctx context.Context, temp string, n int, piece []byte, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil || ctx.Err() != nil {
		return fault.Wrap(fault.Unavailable, s.fail, "The database is away.")
	}
	s.pieces[pieceKey(temp, n)], s.begun[temp] = slices.Clone(piece), now
	return nil
}

func (s *memoryFiles) KeepFile(_ context.Context, f author.File, temp string, quota int64) (author.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := f.User + " " + f.Hash
	if existing, ok := s.files[key]; ok {
		s.drop(temp)
		return existing, nil
	}
	sum := f.Size
	for _, other := range s.files {
		if other.User == f.User {
			sum += other.Size
		}
	}
	if quota > 0 && sum > quota {
		return author.File{}, fault.New(fault.TooMany, "Too much.")
	}
	if s.object[temp] != "" && s.object[f.Hash] == "" {
		s.object[f.Hash] = temp
	}
	for n := 0; ; n++ {
		b, ok := s.pieces[pieceKey(temp, n)]
		if !ok {
			break
		}
		s.pieces[pieceKey(f.Hash, n)] = b
	}
	s.drop(temp)
	s.files[key] = f
	return f, nil
}

func (s *memoryFiles) drop(of string) {
	maps.DeleteFunc(s.pieces, func(key string, _ []byte) bool { return strings.HasPrefix(key, of+" ") })
	delete(s.begun, of)
}

func (s *memoryFiles) DropFilePieces(_ context.Context, temp string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(temp)
	return nil
}

func (s *memoryFiles) File(_ context.Context, user, hash string) (author.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.User == user && strings.HasPrefix(f.Hash, hash) {
			return f, nil
		}
	}
	return author.File{}, fault.New(fault.NotFound, "There is no such file.")
}

func (s *memoryFiles) FilePieceAt(_ context.Context, hash string, n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.pieces[pieceKey(hash, n)]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such piece.")
	}
	return b, nil
}

func (s *memoryFiles) Files(_ context.Context, user string, after *author.File, limit int) ([]author.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []author.File
	for _, f := range s.files {
		if f.User == user {
			all = append(all, f)
		}
	}
	order := func(a, b author.File) int {
		if n := b.AddedAt.Compare(a.AddedAt); n != 0 {
			return n
		}
		return strings.Compare(a.Hash, b.Hash)
	}
	slices.SortFunc(all, order)
	if after != nil {
		all = slices.DeleteFunc(all, func(f author.File) bool { return order(*after, f) >= 0 })
	}
	if limit <= 0 {
		limit = 100
	}
	return all[:min(len(all), limit)], nil
}

func (s *memoryFiles) RemoveFile(_ context.Context, user, hash string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.files[user+" "+hash]; !ok {
		return fault.New(fault.NotFound, "There is no such file.")
	}
	delete(s.files, user+" "+hash)
	return nil
}

func (s *memoryFiles) BeginObject(_ context.Context, temp string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.object[temp], s.begun[temp] = temp, now
	return nil
}

func (s *memoryFiles) FileObject(_ context.Context, hash string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.object[hash], nil
}

func (s *memoryFiles) FilesInPieces(_ context.Context, limit int) (list []author.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if s.object[f.Hash] == "" && len(list) < limit {
			list = append(list, f)
		}
	}
	return list, nil
}

func (s *memoryFiles) ReplacePieces(_ context.Context, hash, temp string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(hash)
	s.object[hash] = temp
	return nil
}

func (s *memoryFiles) SweepFiles(ctx context.Context, before time.Time, remove func(context.Context, string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]bool{}
	for _, f := range s.files {
		kept[f.Hash] = true
	}
	maps.DeleteFunc(s.pieces, func(key string, _ []byte) bool {
		of, _, _ := strings.Cut(key, " ")
		at, begun := s.begun[of]
		return !kept[of] && (!begun || at.Before(before))
	})
	for hash, name := range s.object {
		if hash != name && !kept[hash] && remove != nil {
			if err := remove(ctx, name); err != nil {
				return err
			}
			delete(s.object, hash)
			delete(s.object, name)
		}
	}
	return nil
}
