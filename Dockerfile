# The service alone. With DATABASE_URL it uses that server, else an embedded one under /app/data.
# The version of the runtime that package.json pins for other hosts.
FROM node:24.21.0-slim

# In a container nobody is local: without HOST the port would be open to nobody.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    NODE_COMPILE_CACHE=/tmp/compiled
WORKDIR /app
RUN mkdir data && chown node:node /app data
# The image's node, by number: Kubernetes cannot tell of a name that it is not root's.
USER 1000:1000

COPY --chown=node:node package.json package-lock.json ./
# The image brings the runtime: the pinned copy for other hosts is left out.
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund \
    && rm -rf node_modules/node-linux-* node_modules/node-win-* node_modules/node-darwin-* node_modules/node-bin-darwin-*
COPY --chown=node:node machines machines
COPY --chown=node:node actors actors
COPY --chown=node:node src src
COPY --chown=node:node bin bin
# The panel is built once, here, instead of at every start.
RUN node bin/chapar.mjs build-panel

VOLUME /app/data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--input-type=module", "--eval", "const { ok } = await fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/health/ready`, { signal: AbortSignal.timeout(4000) }); process.exit(ok ? 0 : 1)"]
# The launcher brings the service back when it ends unexpectedly, as `npm start` does.
CMD ["node", "bin/chapar.mjs", "start"]
