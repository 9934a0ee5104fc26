/** The frame of a page: its title for the document and for the eye, and a card for each part. */
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { useLocation } from 'react-router'

interface PageProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly crumbs?: ReactNode
  readonly actions?: ReactNode
  readonly narrow?: boolean
  readonly children: ReactNode
}

export function Page({ title, lead, crumbs, actions, narrow, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname } = useLocation()

  useTitle(title)

  // Keyboard and screen reader users begin at the top of the new page.
  useEffect(() => {
    if (pathname && document.activeElement === document.body) heading.current?.focus()
  }, [pathname])

  return (
    <div className={narrow ? 'page narrow' : 'page'}>
      <header>
        {crumbs && <div className="crumbs">{crumbs}</div>}
        <div className="row spread">
          <div className="grow">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {lead && <div className="quiet">{lead}</div>}
          </div>
          {actions && <div className="row">{actions}</div>}
        </div>
      </header>
      {children}
    </div>
  )
}

/** Of the document. The one that it came with is kept: an element of its own beside it would be a second. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Chapar`
  }, [title])
}

interface CardProps {
  readonly title: string
  readonly aside?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

export function Card({ title, aside, className = '', children }: CardProps) {
  const id = useId()
  return (
    <section className={`card ${className}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
