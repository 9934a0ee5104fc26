/** Methods whose true answer is always "none": no network behind the gateway has these things. */
import type { Json } from '../../../actors/ports/platform.ts'
import { type Method, type ParameterType, result } from '../method.ts'

const none = (
  name: string,
  summary: string,
  parameters: Readonly<Record<string, ParameterType>>,
  value: Json,
): Method => ({
  name,
  summary,
  scope: undefined,
  operation: undefined,
  parameters,
  required: Object.keys(parameters).filter((parameter) => parameter.endsWith('_id')),
  run: async ({ args }) => {
    if ('user_id' in parameters) args.userId()
    if ('chat_id' in parameters) args.chat()
    return result(value)
  },
})

export const emptyMethods: readonly Method[] = [
  none(
    'getUserProfileAudios',
    'The music of a profile',
    { user_id: 'integer', offset: 'integer', limit: 'integer' },
    { total_count: 0, audios: [] },
  ),
]
