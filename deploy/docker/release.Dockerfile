# The image of a release, of commands that are built already: they lie in a folder for
# each platform. They are static and need nothing else.
FROM scratch
ARG TARGETPLATFORM
COPY --chmod=0755 $TARGETPLATFORM/gprof-convert $TARGETPLATFORM/gprof-record /usr/bin/
ENV PATH=/usr/bin
WORKDIR /data
ENTRYPOINT ["/usr/bin/gprof-convert"]
