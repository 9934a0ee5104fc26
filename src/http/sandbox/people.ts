/** /sandbox/people: registers, lists, changes and blocks people. */
import { Type } from 'typebox'
import type { PersonRecord } from '../../sandbox/people/people.ts'
import { answers, Done, done, ok, PageOf, PageQuery } from '../envelope.ts'
import { faultsBody } from './faults.ts'
import { mediaBody, present } from './present.ts'
import { beforeId, described, PersonParams, pageOf, type SandboxRoutes } from './route.ts'
import { Id, NewPerson, Person, PersonChange } from './schemas.ts'

const Block = Type.Object({ person: Id, blocked: Id })

const body = (person: PersonRecord) => ({
  id: person.id,
  phone: person.phone,
  username: person.username,
  first_name: person.first_name,
  last_name: person.last_name,
  language_code: person.language_code,
  has_password: person.has_password,
  deactivated: person.deactivated,
  linked_sessions: person.sessions,
  faults: faultsBody(person.faults, person.banned, Date.now()),
  star_balance: person.stars,
  created_at: person.created_at.toISOString(),
  verification: person.verification,
  ...(person.is_premium && { is_premium: true }),
  ...present({
    photo: person.photo && mediaBody(person.photo),
    emoji_status_custom_emoji_id: person.emoji_status,
  }),
})

export const peopleRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people',
    { schema: { ...described('Register a person'), body: NewPerson, response: answers(Person) } },
    async (request) => {
      const [person] = await network(request).people.create([request.body])
      return ok(body(person!))
    },
  )

  app.post(
    '/people/bulk',
    {
      schema: {
        ...described('Register many people at once: all of them or none'),
        body: Type.Object(
          { people: Type.Array(NewPerson, { minItems: 1, maxItems: 1000 }) },
          { additionalProperties: false },
        ),
        response: answers(Type.Array(Person)),
      },
    },
    async (request) => ok((await network(request).people.create(request.body.people)).map(body)),
  )

  app.get(
    '/people',
    {
      schema: {
        ...described('People, newest first'),
        querystring: PageQuery,
        response: answers(PageOf(Person)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const found = await network(request).people.list({ limit, ...beforeId(before) })
      return ok(pageOf(found, limit, ({ id }) => id, body))
    },
  )

  app.get(
    '/people/:person',
    { schema: { ...described('One person'), params: PersonParams, response: answers(Person) } },
    async (request) => ok(body(await network(request).people.get(request.params.person))),
  )
}

export const personRoutes: SandboxRoutes = async (app, { network }) => {
  app.patch(
    '/people/:person',
    {
      schema: {
        ...described('Rename a person, or delete their account'),
        params: PersonParams,
        body: PersonChange,
        response: answers(Person),
      },
    },
    async (request) => {
      const { people } = network(request)
      return ok(body(await people.change(request.params.person, request.body)))
    },
  )

  app.put(
    '/people/:person/blocks/:blocked',
    {
      schema: {
        ...described('Block somebody: they can no longer write to this person'),
        params: Block,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, blocked } = request.params
      await network(request).people.block(person, blocked, true)
      return done
    },
  )

  app.delete(
    '/people/:person/blocks/:blocked',
    {
      schema: {
        ...described('Let somebody write to this person again'),
        params: Block,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, blocked } = request.params
      await network(request).people.block(person, blocked, false)
      return done
    },
  )
}
