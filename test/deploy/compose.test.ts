/** The compose files: the form that the specification asks for, and what several nodes need of theirs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import t from 'tap'
import { parse } from 'yaml'
import { variableNames } from '../../src/config/config.ts'
import { goModule } from '../support/go-module.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => parse(readFileSync(join(root, file), 'utf8'), { merge: true })

interface Service {
  readonly environment?: Readonly<Record<string, string>>
  readonly networks: Readonly<Record<string, { readonly aliases: readonly string[] } | null>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly [option: string]: unknown
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly ipam: unknown } | null>>
}

const { services, networks } = read('docker-compose.cluster.yml') as Compose
const nodes = Object.entries(services).filter(([name]) => name.startsWith('chapar-'))

const { folder, missing } = await goModule('github.com/compose-spec/compose-go/v2@v2.9.0')

t.test('they are what their specification asks for', { skip: missing ?? false }, async (t) => {
  const text = readFileSync(join(folder, 'schema/compose-spec.json'), 'utf8')
  // Its name of draft 7 has no final #, as ajv knows it.
  const schema = { ...JSON.parse(text), $schema: undefined }
  const ajv = new Ajv({ allowUnionTypes: true, strict: false })
  formats.default(ajv)
  const isCompose = ajv.compile(schema)
  for (const file of ['docker-compose.yml', 'docker-compose.cluster.yml']) {
    const compose = read(file)
    t.ok(isCompose(compose), `${file}: ${ajv.errorsText(isCompose.errors)}`)
    const broken = { ...compose, services: { chapar: { imagge: 'chapar' } } }
    t.notOk(isCompose(broken), 'the schema notices a wrong word')
  }
})

t.test('three nodes share all that they must, and each has a name and an address', async (t) => {
  t.equal(nodes.length, 3)
  const own = new Set(['NODE_NAME', 'CLUSTER_ADDRESS'])
  const common = ({ environment = {} }: Service) =>
    Object.entries(environment).filter(([name]) => !own.has(name))
  const [[, first] = []] = nodes
  for (const [name, node] of nodes) {
    t.equal(node.environment?.NODE_NAME, name)
    const [, host] = /^https:\/\/([\w-]+):9443$/.exec(node.environment?.CLUSTER_ADDRESS ?? '') ?? []
    t.same(node.networks.nodes?.aliases, [host], 'it is known by it in the network of nodes')
    t.same(common(node), first && common(first), 'the rest is the same for all')
    t.same(node.volumes, ['chapar:/app/data'], 'with the key file and the files of users')
    t.equal(node.ports, undefined, 'only the balancer is reached from outside')
    for (const variable of Object.keys(node.environment ?? {})) {
      t.ok(variableNames.includes(variable) || /^OTP_/.test(variable), variable)
    }
  }
})

t.test('one node makes the key file before the others begin', async (t) => {
  const [[first] = [], ...others] = nodes
  for (const [name, { depends_on }] of others) {
    t.same(depends_on, { [first ?? '']: { condition: 'service_healthy' } }, name)
  }
})

t.test('the balancer alone is before the nodes, and they believe it', async (t) => {
  const { haproxy, postgres, redis } = services
  t.same(haproxy?.networks, ['front'])
  for (const store of [postgres, redis]) t.same(store?.networks, ['nodes'])
  const [, subnet] = /^\S+:-([\d./]+)\}$/.exec(nodes[0]?.[1].environment?.TRUST_PROXY ?? '') ?? []
  t.ok(subnet)
  t.match(networks.front, { ipam: { config: [{ subnet: new RegExp(`${subnet}`) }] } })
  t.same(haproxy?.volumes, ['./deploy/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro'])
  const balanced = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8')
  for (const [name] of nodes)
    t.match(balanced, new RegExp(`^ {2}server ${name} ${name}:8080$`, 'm'))
})
