# The image of a release: what Dockerfile makes, of commands that are built already. They
# lie in a folder for each platform.
FROM scratch
ARG TARGETPLATFORM
COPY --from=golang:1.26 /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --chmod=0755 $TARGETPLATFORM/gprof-convert $TARGETPLATFORM/gprof-record /usr/local/bin/
ENV PATH=/usr/local/bin
USER 65532:65532
CMD ["gprof-record", "--help"]
