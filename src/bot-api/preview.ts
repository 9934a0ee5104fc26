/** What a call wants shown of a page that its text links to: `link_preview_options`, or the older parameter. */

import type { Preview } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Arguments } from './arguments.ts'

export const previewed = {
  link_preview_options: 'json',
  disable_web_page_preview: 'boolean',
} as const

export function previewOf(args: Arguments): { readonly preview?: Preview } {
  if (!args.hasJson('link_preview_options')) {
    return args.boolean('disable_web_page_preview') ? { preview: { isOff: true } } : {}
  }
  const value = args.json('link_preview_options')
  if (value === undefined)
    throw failed('bad_request', "can't parse link preview options JSON object")
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw failed('bad_request', 'object expected as link preview options')
  }
  const { url, ...rest } = value as Record<string, unknown>
  const wants = (name: string) => booleanOf(rest, name)
  const isSmall = wants('prefer_small_media')
  const isLarge = wants('prefer_large_media')
  const isAbove = wants('show_above_text')
  if (url != null && typeof url !== 'string') {
    throw failed('bad_request', 'field "url" must be of type String')
  }
  if (wants('is_disabled')) return { preview: { isOff: true } }
  const size = isLarge ? ('large' as const) : isSmall && ('small' as const)
  const preview: Preview = {
    ...(url && { url }),
    ...(size && { size }),
    ...(isAbove && { isAbove }),
  }
  return Object.keys(preview).length > 0 ? { preview } : {}
}

function booleanOf(options: Record<string, unknown>, name: string): boolean {
  const value = options[name] ?? false
  if (typeof value === 'boolean') return value
  throw failed('bad_request', `field "${name}" must be of type Boolean`)
}
