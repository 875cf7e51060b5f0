/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = { [keyword: string]: unknown }

export interface OpenApiParameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  description?: string
  schema: JsonSchema
}

interface Content {
  [mediaType: string]: { schema: JsonSchema }
}

export interface OpenApiResponse {
  description: string
  content?: Content
}

export interface OpenApiReference {
  $ref: string
}

export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security?: Record<string, string[]>[]
  parameters: (OpenApiParameter | OpenApiReference)[]
  requestBody?: { required: boolean; description?: string; content: Content }
  /** By status, or `default`. */
  responses: Record<string, OpenApiResponse | OpenApiReference>
}

/** The parts of an OpenAPI 3.1 document that ours has. */
export interface OpenApi {
  openapi: string
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string; description: string }[]
  security: Record<string, string[]>[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    securitySchemes: Record<string, object>
    parameters: Record<string, OpenApiParameter>
    responses: Record<string, OpenApiResponse>
    schemas: Record<string, JsonSchema>
  }
}
