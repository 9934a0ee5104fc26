/** What the compose files and the image promise: no default password, nothing open to the network, no rights to spare. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Service {
  readonly image?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly [option: string]: unknown
}

const files = ['docker-compose.yml', 'docker-compose.cluster.yml'].map((file) => {
  const source = read(file)
  const { services } = parse(source, { merge: true }) as { services: Record<string, Service> }
  const nodes = Object.values(services).filter(({ build }) => build !== undefined)
  return { file, source, services, nodes }
})
const dockerfile = read('Dockerfile')

t.test(
  'it is production unless told otherwise, and no password or sender is made up',
  async (t) => {
    for (const { file, source, services, nodes } of files) {
      t.match(services.postgres?.environment?.POSTGRES_PASSWORD, /^\$\{POSTGRES_PASSWORD:\?/)
      t.notMatch(source, /PASSWORD:-/, `no variable with a password has a default in ${file}`)
      t.ok(nodes.length > 0)
      for (const { environment = {} } of nodes) {
        t.match(environment.NODE_ENV, /^\$\{NODE_ENV:-production\}$/)
        t.match(environment.DATABASE_URL, /:\$\{POSTGRES_PASSWORD:\?[^}]+\}@postgres:/)
        t.match(environment.OTP_SENDER, /^\$\{OTP_SENDER:\?/)
      }
    }
  },
)

t.test('one port is published, and that on loopback', async (t) => {
  for (const { file, services, nodes } of files) {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports as string[])
    t.equal(published.length, 1, file)
    for (const port of published) t.match(port, /^127\.0\.0\.1:/, file)
    for (const { environment } of nodes) {
      t.equal(environment?.HOST, '0.0.0.0', 'within the container nobody else listens')
    }
  }
})

t.test('nothing may write but where it keeps its data, nor become more than it is', async (t) => {
  for (const [name, service] of files.flatMap(({ services }) => Object.entries(services))) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' }, name)
    t.same(service.security_opt, ['no-new-privileges:true'], name)
    t.ok(
      (service.tmpfs as string[] | undefined)?.some((place) => place.startsWith('/tmp')),
      name,
    )
    t.match(service.stop_grace_period, /^\d+s$/, name)
    t.equal(service.privileged, undefined, name)
  }
  for (const { cap_add, volumes } of files.flatMap(({ nodes }) => nodes)) {
    t.equal(cap_add, undefined)
    t.same(volumes, ['chapar:/app/data'])
  }
})

t.test('every image is one version', async (t) => {
  for (const [name, { image, build }] of files.flatMap(({ services }) =>
    Object.entries(services),
  )) {
    if (build === undefined) t.match(image, /^[a-z]+:\d+(\.\d+)+$/, name)
  }
  for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm)) t.match(image, /:\d+\.\d+\.\d+-/)
})

t.test('the image runs the launcher, as nobody special, open to its container', async (t) => {
  t.match(dockerfile, /^CMD \["node", "bin\/chapar\.mjs", "start"\]$/m)
  t.match(dockerfile, /^USER 1000:1000$/m)
  t.match(dockerfile, /\bHOST=0\.0\.0\.0\b/)
  t.match(dockerfile, /\bNODE_ENV=production\b/)
})
