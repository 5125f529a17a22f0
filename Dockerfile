# The command line and the hub, built from this repository: docker build -t agent-mailbox .
FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs
RUN mkdir packed && npm pack --ignore-scripts --pack-destination packed

FROM node:20-bookworm-slim
WORKDIR /app
COPY --from=build /build/packed ./packed
RUN npm install --omit=dev --ignore-scripts ./packed/*.tgz pg@8
COPY examples/compose/team.mjs ./
# The copy of the journal, the index and the keys of this machine.
ENV PATH=/app/node_modules/.bin:$PATH
USER node
VOLUME /home/node
EXPOSE 7337
HEALTHCHECK --interval=10s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 7337) + '/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["mailbox"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7337"]
