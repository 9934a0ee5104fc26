/** Buttons, and links that look like them. A busy button keeps its width and the focus. */
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link, type LinkProps } from 'react-router'
import { Icon, type IconName } from './icons.tsx'

interface Looks {
  readonly kind?: 'plain' | 'first' | 'danger' | 'danger first' | 'bare'
  readonly size?: 'slim' | 'usual'
  readonly icon?: IconName
}

const classOf = ({ kind = 'plain', size = 'usual', icon }: Looks, hasText: boolean) =>
  ['button', kind, size, icon && !hasText ? 'icon' : ''].filter(Boolean).join(' ')

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement>, Looks {
  readonly busy?: boolean
  readonly children?: ReactNode
}

export function Button({ kind, size, icon, busy = false, children, ...rest }: ButtonProps) {
  const looks = { ...(kind && { kind }), ...(size && { size }), ...(icon && { icon }) }
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || undefined}
      className={classOf(looks, children !== undefined)}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
    >
      {busy ? <span className="spinner" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface ButtonLinkProps extends LinkProps, Looks {}

export function ButtonLink({ kind, size, icon, children, ...rest }: ButtonLinkProps) {
  const looks = { ...(kind && { kind }), ...(size && { size }), ...(icon && { icon }) }
  return (
    <Link {...rest} className={classOf(looks, children !== undefined)}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}
