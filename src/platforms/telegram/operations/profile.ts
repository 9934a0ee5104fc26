/** What the account says of itself. */
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { type Context, done } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function setName(
  { calls, signal }: Context,
  { firstName, lastName }: Of<'set_name'>,
): Promise<OperationResult> {
  const request = { _: 'account.updateProfile', firstName } as const
  await calls.call({ ...request, ...(lastName !== undefined && { lastName }) }, { signal })
  return done
}

export async function setAbout(
  { calls, signal }: Context,
  { about }: Of<'set_about'>,
): Promise<OperationResult> {
  await calls.call({ _: 'account.updateProfile', about }, { signal })
  return done
}
