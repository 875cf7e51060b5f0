import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { Ctx } from '../context.ts'
import type { PageRequest } from '../lib/pagination.ts'
import type { Operation } from './operation.ts'
import type { PATH_PARAMS } from './path-params.ts'

/** The values behind the colons of a route's path. */
export type PathParams = Record<keyof typeof PATH_PARAMS, string>

declare module 'fastify' {
  interface FastifyRequest {
    ctx: Ctx
    /** The values behind the colons of the route's path. */
    path: PathParams
    /** The page that the query asks for. */
    page: PageRequest
    /** The public address of the request, query included. */
    href: string
  }

  interface FastifyContextConfig {
    /** What the route is for, for docs/openapi.json. Every route of the program has it. */
    doc?: Operation
    /** Needs no token: discovery, health, and links that carry their own permission. */
    public?: true
    /** The permission is in the address; such requests are not counted against anybody's rate. */
    signedLink?: true
    /** For agents, which call often: their requests are not counted either. */
    agents?: true
    /** The body may be large, and so may take its time to arrive. */
    largeBody?: true
    /**
     * Ends the request unless its subject may do what the route does; runs before the body is read, so that
     * 404 comes before 415, 400 and 422. Every route with a body has one or is public.
     */
    access?: (ctx: Ctx, path: PathParams) => Promise<unknown>
  }
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** A slice's routes, mounted by `app.ts`. */
export type Routes = (app: App) => void
