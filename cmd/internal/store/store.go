// Package store reads buckets of S3-compatible object stores, as file systems, and writes places
// that many machines share: directories and buckets.
//
// A path in a bucket is s3://BUCKET/NAME. Credentials, region and address are found as by
// Amazon's own tools: in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL), in ~/.aws, or from the
// machine's role. Requests that fail for the moment are repeated.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// scheme begins a path in a bucket.
const scheme = "s3://"

// ErrStore is the class of errors that the store has, or the way to it, whatever lies in it:
// another try may work.
var ErrStore = errors.New("object store")

// ErrChanged says that an object was replaced while it was read.
var ErrChanged = errors.New("was replaced while it was read; try again")

// Stores are the buckets that a command reads, each connected to once.
type Stores struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// Mount returns the file system of the bucket of a path, and the name in it; nil for a path
// that is none in a bucket. Nothing is requested yet.
func (s *Stores) Mount(path string) (fsys fs.FS, name string, err error) {
	if !strings.HasPrefix(path, scheme) {
		return nil, "", nil
	}
	host, name, _ := strings.Cut(strings.TrimPrefix(path, scheme), "/")
	name = strings.TrimSuffix(name, "/")
	if name == "" {
		name = "."
	}
	if host == "" || !fs.ValidPath(name) {
		return nil, "", fmt.Errorf("%s: want s3://BUCKET/NAME", path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[host]
	if b == nil {
		client, err := connect()
		if err != nil {
			return nil, "", err
		}
		b = &bucket{name: host, client: client, known: map[string]object{}}
		if s.buckets == nil {
			s.buckets = map[string]*bucket{}
		}
		s.buckets[host] = b
	}
	return b, name, nil
}

// tries is how often a request is made before it has failed; the pauses between grow to a
// second.
const tries = 6

// connect finds the store and the credentials for it.
func connect() (*minio.Core, error) {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Path != "" && at.Path != "/" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL is %q: want a URL such as https://minio.example.org:9000", endpoint)
	}
	lookup := minio.BucketLookupAuto
	if at.Host != "s3.amazonaws.com" {
		lookup = minio.BucketLookupPath
	}
	client, err := minio.NewCore(at.Host, &minio.Options{
		Secure: at.Scheme == "https", BucketLookup: lookup, MaxRetries: tries,
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
	})
	if err == nil {
		client.SetAppInfo("gprof", "0")
	}
	return client, err
}

// object is what is known of an object.
type object struct {
	size int64
	time time.Time
	etag string
}

// stat asks for an object.
func (b *bucket) stat(name string) (object, error) {
	info, err := b.client.StatObject(context.Background(), b.name, name, minio.StatObjectOptions{})
	if err != nil {
		return object{}, b.error("stat", name, err)
	}
	return object{info.Size, info.LastModified, info.ETag}, nil
}

// get begins to read n bytes of an object.
func (b *bucket) get(name string, of object, from, n int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	err := o.SetRange(from, from+n-1)
	if of.etag != "" { // some servers have none of objects that came another way
		err = errors.Join(err, o.SetMatchETag(of.etag))
	}
	if err != nil {
		return nil, b.error("open", name, err)
	}
	body, _, _, err := b.client.GetObject(context.Background(), b.name, name, o)
	return body, b.error("open", name, err)
}

// list calls each for what lies directly below a directory, which ends with a slash or is
// empty; of one page of most entries unless that is 0. Names of directories end with a slash.
func (b *bucket) list(dir string, most int, each func(name string, o object)) error {
	token := ""
	for {
		page, err := b.client.ListObjectsV2(b.name, dir, "", token, "/", most)
		if err != nil {
			return b.error("list", dir, err)
		}
		for _, o := range page.Contents {
			each(o.Key, object{o.Size, o.LastModified, strings.Trim(o.ETag, `"`)})
		}
		for _, p := range page.CommonPrefixes {
			each(p.Prefix, object{})
		}
		if token = page.NextContinuationToken; !page.IsTruncated || token == "" || most > 0 {
			return nil
		}
	}
}

// error is an error with the class that readers of file systems expect.
func (b *bucket) error(op, name string, err error) error {
	if err == nil {
		return nil
	}
	path := scheme + b.name + "/" + name
	switch said := minio.ToErrorResponse(err); {
	case said.Code == "NoSuchKey":
		err = fs.ErrNotExist
	case said.Code == "NoSuchBucket":
		path, err = scheme+b.name, fmt.Errorf("%w: there is no such bucket", fs.ErrNotExist)
	case said.Code == "PreconditionFailed":
		err = fmt.Errorf("%w: %w", ErrStore, ErrChanged)
	case said.Code == "AccessDenied" && b.anonymous():
		err = fmt.Errorf("%w: %w: no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE", ErrStore, fs.ErrPermission)
	case said.Code == "AccessDenied", said.Code == "InvalidAccessKeyId", said.Code == "SignatureDoesNotMatch":
		err = fmt.Errorf("%w: %w: %s", ErrStore, fs.ErrPermission, said.Code)
	default:
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// anonymous reports whether no credentials were found.
func (b *bucket) anonymous() bool {
	found, err := b.client.GetCreds()
	return err != nil || found.AccessKeyID == ""
}
